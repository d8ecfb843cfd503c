"""The thread that learns: obeys commands in their order, and tells what there is to see."""

import json
import queue
import secrets
import sys
import tempfile
import threading
import time
import traceback
from collections import defaultdict
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from gaussian_neurons.live import frames, messages, scenes
from gaussian_neurons.live.commands import COMMANDS, TOLD
from gaussian_neurons.live.history import History
from gaussian_neurons.live.messages import Command
from gaussian_neurons.live.pace import MOST_ROWS, Pace
from gaussian_neurons.live.presets import Preset, named
from gaussian_neurons.live.setup import Setup
from gaussian_neurons.live.sources import Images, Sources, defaults
from gaussian_neurons.live.trial import Trial

FRAME = 0.05  # seconds between two frames
SHARE = 6  # parts of learning for one of showing, where showing takes long
HELD_ROWS = 200  # samples between two looks at a neuron in somebody's hand
MOST_WAITING = 32  # commands of a client
IN_A_ROW = 0.1  # seconds of commands, then learning and showing have their turn


class Told(NamedTuple):
    """Something to be told."""

    to: int | None  # a client, or all
    data: str | bytes
    is_frame: bool = False  # the next one makes it void


class Run:
    """A trial that goes on while somebody watches.

    Parameters
    ----------
    sources : what there is to learn from
    setup : where to begin
    presets : what can be chosen
    tell : called in the run's thread with everything that there is to tell
    """

    def __init__(
        self, sources: Sources, setup: Setup, presets: dict[str, Preset], tell: Callable[[Told], None]
    ) -> None:
        self.name = secrets.token_hex(8)
        self.sources, self.presets, self._tell = sources, presets, tell
        self.trial = Trial(setup, sources.load(setup.data, setup.seed))
        self.generation = 1
        self.history, self.pace = History(), Pace()
        self.running, self.trouble = True, ""
        self.watching: set[int] = set()  # clients
        self.holding: dict[int, set[int]] = {}  # client → neurons in its hand
        self.touched = False  # whether anybody has been here
        self.chosen: str | None = None  # the preset chosen last
        self._queue: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()  # None: end
        self._room: defaultdict[int, threading.Semaphore]  # client → for how many more commands
        self._room = defaultdict(partial(threading.Semaphore, MOST_WAITING))
        self._last: dict[int, Command] = {}  # client → its last command, while that waits
        self._last_lock = threading.Lock()
        self._changed, self._told_points, self._ending = True, self.trial.n_points, False
        self._rested, self._shown, self._showing = 0.0, 0.0, 0.0  # when; when, and how many seconds
        self._thread = threading.Thread(target=self._work, name="learning", daemon=True)

    # ---- from other threads -----------------------------------------------------------------------

    def start(self) -> None:
        """Begin to listen; learning begins when somebody watches."""
        self._thread.start()

    def stop(self) -> None:
        """End, once the samples at hand are learned; commands that wait are left undone."""
        self._ending = True
        self._queue.put(None)
        self._thread.join()

    def order(self, client: int, command: Command) -> bool:
        """Have a command done; False where too many of this client's wait already."""
        with self._last_lock:
            if client in self._last and messages.joined(self._last[client], command):
                return True
            if not self._room[client].acquire(blocking=False):
                return False
            self._last[client] = command
            self._queue.put(partial(self._obey, client, command))
        return True

    def left(self, client: int) -> None:
        """A client is gone."""
        self._queue.put(partial(self._obey, client, ("left", {})))

    def ask(self, question: Callable[[Trial], Any]) -> "Future[Any]":
        """The answer to a question about the trial, which is at rest meanwhile."""
        answer: Future[Any] = Future()
        self._queue.put(partial(self._answer, question, answer))
        return answer

    # ---- the thread -------------------------------------------------------------------------------

    def _work(self) -> None:
        try:
            while (step := self._next()) is not None and not self._ending:
                self._take(step)
        finally:
            self.trial.close()

    def _next(self) -> Callable[[], None] | None:
        """What to do next: a command, or else what goes on by itself; None: end."""
        wait = self._wait()
        if wait == 0 and time.perf_counter() - self._rested > IN_A_ROW:
            return self._go_on
        try:
            if wait == 0:
                return self._queue.get_nowait()
            step = self._queue.get(timeout=wait)
        except queue.Empty:
            return self._go_on
        self._rested = time.perf_counter()  # nothing else was due
        return step

    def _take(self, step: Callable[[], None]) -> None:
        """Do something; whatever goes wrong, this thread goes on to listen."""
        try:
            step()
        except Exception as error:
            traceback.print_exc(file=sys.stderr)
            self.trouble = f"a mistake of this program's, {type(error).__name__}: see the terminal."
            self._changed = False  # it may be the showing that fails: not tried again and again
            self.text(None, type="failed", trouble=self.trouble)

    @property
    def learning(self) -> bool:
        """Whether samples are learned from now."""
        return self.running and not self.trouble and bool(self.watching)

    def _wait(self) -> float | None:
        """Seconds until there is something to do unasked; None: nothing."""
        now = time.perf_counter()
        waits = []
        if self.learning:
            waits.append(self.pace.wait(now, self.trial.setup.speed))
        if self._changed and self.watching:
            waits.append(max(0.0, self._due() - now))
        return min(waits, default=None)

    def _due(self) -> float:
        """When the next frame is: showing leaves most of the time to learning, where there is any."""
        rest = SHARE * self._showing if self.learning else 0.0
        return self._shown + max(FRAME - self._showing, rest)

    def _go_on(self) -> None:
        now = time.perf_counter()
        if self.learning:
            most = HELD_ROWS if self.trial.held else MOST_ROWS
            rows = self.pace.rows(now, self.trial.setup.speed, most)
            if rows:
                self.learn(rows)
        now = time.perf_counter()
        if self._changed and now >= self._due() and self.watching:
            self._show()
            self._shown = time.perf_counter()
            self._showing = self._shown - now
        self._rested = time.perf_counter()

    def learn(self, rows: int) -> None:
        """Learn from at most so many samples; what goes wrong stops the learning, and is told."""
        begin = time.perf_counter()
        self._changed = True
        try:
            learned = self.trial.learn(rows)
        except TOLD as error:
            self.trouble = str(error)
            self.notice(None, "error", self.trouble)
            return
        self.pace.learned(learned, begin, time.perf_counter(), self.trial.seen)

    def _obey(self, client: int, command: Command) -> None:
        do, arguments = command
        with self._last_lock:
            if do == "left" or self._last.get(client) is command:
                self._last.pop(client, None)
            if do == "left":
                self._room.pop(client, None)
            else:
                self._room[client].release()
        if arguments.pop("generation", None) not in (None, self.generation):
            return  # it was meant for neurons that are gone
        self._changed = True
        try:
            COMMANDS[do](self, client, **arguments)
        except TOLD as error:
            self.notice(client, "error", str(error).split("\n")[0])
            if do in ("set", "start", "preset"):
                self.tell_scene(client)  # the control that asked for it shows the truth again

    def _answer(self, question: Callable[[Trial], Any], answer: "Future[Any]") -> None:
        if not answer.set_running_or_notify_cancel():  # nobody waits for it any more
            return
        try:
            answer.set_result(question(self.trial))
        except BaseException as error:  # of whoever asked
            answer.set_exception(error)

    def begin(self, setup: Setup, keep: bool = False) -> None:
        """A new trial in place of the old one, if it can be; points that were painted stay where asked to."""
        source = self.sources.load(setup.data, setup.seed)
        if not isinstance(source, Images):
            setup = replace(setup, classes=None)  # points have none
        trial = Trial(setup, self.trial.with_added(source) if keep else source)
        self.trial.close()
        self.trial, self.history = trial, History()
        self.trouble, self.holding = "", {}
        self.generation += 1
        self.pace.restart(time.perf_counter())
        self.tell_all()

    def wanted(self, given: Any, alone: bool = False) -> Setup:
        """A setup from some of its values. Others stay, or are what suits the data: where that is another, or
        where the values must mean the same to everybody, whatever runs here now."""
        checked = Setup().changed(given)
        now = self.trial.setup
        if "data" in given and (alone or checked.data != now.data):
            suited = defaults(checked.data, self.sources.load(checked.data, checked.seed))
            now = suited if alone else replace(suited, seed=now.seed)
        return now.changed(given)

    @property
    def preset(self) -> Preset | None:
        """The figure that this is, if any."""
        name = named(self.trial.setup, self.trial.journal.setup, self.presets, self.chosen)
        return None if name is None else self.presets[name]

    @property
    def waits(self) -> bool:
        """Whether it is something to look at before it learns."""
        return self.preset is not None and self.preset.waits

    # ---- telling ----------------------------------------------------------------------------------

    def _show(self) -> None:
        self._changed = False
        if self.trial.n_points > self._told_points:
            self._tell_points(None, self._told_points)
            self._told_points = self.trial.n_points
        for old, new in self.trial.found_again():
            told = f"{scenes.numbered(new)} has learned what {scenes.numbered(old)} had"
            self.mark(f"again {old}", told)
            self.notice(None, "info", f"{told}.")
        facts = self._facts()
        if self.learning:
            self.history.add(facts["seen"], facts["learned"], facts["cost"], facts["rate"])
        self._tell(Told(None, frames.encoded(facts, self.trial.arrays()), is_frame=True))

    def _facts(self) -> dict[str, Any]:
        state = "failed" if self.trouble else "running" if self.running else "paused"
        rate = self.pace.speed() if self.learning else 0.0
        about = {"kind": "frame", "generation": self.generation, "state": state, "rate": rate}
        return {**about, "trouble": self.trouble or None, **self.trial.facts()}

    def notice(self, client: int | None, level: str, text: str) -> None:
        """Say something to a client, or to all."""
        self.text(client, type="notice", level=level, text=text)

    def text(self, client: int | None, **message: Any) -> None:
        """Send a message in words."""
        self._tell(Told(client, json.dumps(message, allow_nan=False)))

    def tell_scene(self, client: int | None = None) -> None:
        """Tell what has changed of all but the neurons."""
        scene = scenes.scene(self.trial, self.sources, self.preset)
        self.text(client, type="scene", run=self.name, generation=self.generation, **scene)

    def arrays(self, client: int | None, arrays: dict[str, Any], **about: Any) -> None:
        """Send a message of numbers."""
        about["generation"] = self.generation
        self._tell(Told(client, frames.encoded(about, arrays)))

    def _tell_points(self, client: int | None, first: int = 0) -> None:
        """Tell the points, or those from the first that is not known yet."""
        if self.trial.mode == "plane":
            self.arrays(client, self.trial.points(first), kind="points", first=first)

    def tell_points(self, client: int | None = None) -> None:
        """Tell all points; painted ones that follow are told with the next frame."""
        self._tell_points(client)
        if client is None:
            self._told_points = self.trial.n_points

    def tell_all(self, client: int | None = None) -> None:
        """Tell all that somebody must know who has just come, or all of a new trial."""
        self.tell_scene(client)
        self.tell_points(client)
        self.text(client, type="history", generation=self.generation, **self.history.told())

    def mark(self, kind: str, text: str) -> None:
        """Note what was done, for the curves."""
        seen, replaces = self.history.mark(self.trial.seen, kind, text, time.perf_counter())
        self.text(None, type="mark", generation=self.generation, seen=seen, text=text, replaces=replaces)


def saved(trial: Trial) -> bytes:
    """The model as a file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.safetensors"
        trial.model.save(path)
        return path.read_bytes()
