"""The thread that learns: obeys commands in their order, and tells what there is to see."""

import json
import queue
import secrets
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from gaussian_neurons.live import frames, scenes
from gaussian_neurons.live.history import History
from gaussian_neurons.live.messages import Command
from gaussian_neurons.live.pace import MOST_ROWS, Pace
from gaussian_neurons.live.presets import Preset, named
from gaussian_neurons.live.setup import Setup, shown
from gaussian_neurons.live.sources import Sources, defaults
from gaussian_neurons.live.trial import Trial

FRAME = 0.05  # seconds between two frames
SHARE = 6  # parts of learning for one of showing, where showing takes long
HELD_ROWS = 200  # samples between two looks at a neuron in somebody's hand
MOST_WAITING = 256  # commands
TOLD = (ValueError, OSError, ModuleNotFoundError, FloatingPointError, MemoryError)  # what is said, not traced


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
        self._changed, self._new_points, self._due = True, False, 0.0
        self._thread = threading.Thread(target=self._work, name="learning", daemon=True)

    # ---- from other threads -----------------------------------------------------------------------

    def start(self) -> None:
        """Begin to listen; learning begins when somebody watches."""
        self._thread.start()

    def stop(self) -> None:
        """End, once the samples at hand are learned."""
        self._queue.put(None)
        self._thread.join()

    def order(self, client: int, command: Command) -> bool:
        """Have a command done; False where too many wait already."""
        if self._queue.qsize() >= MOST_WAITING:
            return False
        self._queue.put(partial(self._obey, client, *command))
        return True

    def left(self, client: int) -> None:
        """A client is gone."""
        self._queue.put(partial(self._obey, client, "left", {}))

    def ask(self, question: Callable[[Trial], Any]) -> "Future[Any]":
        """The answer to a question about the trial, which is at rest meanwhile."""
        answer: Future[Any] = Future()
        self._queue.put(partial(self._answer, question, answer))
        return answer

    # ---- the thread -------------------------------------------------------------------------------

    def _work(self) -> None:
        while True:
            try:
                wait = self._wait()
                order = self._queue.get(timeout=wait) if wait != 0 else self._queue.get_nowait()
            except queue.Empty:
                self._go_on()
                continue
            if order is None:
                break
            order()
        self.trial.close()

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
            waits.append(max(0.0, self._due - now))
        return min(waits, default=None)

    def _go_on(self) -> None:
        now = time.perf_counter()
        if self.learning:
            most = HELD_ROWS if self.trial.held else MOST_ROWS
            rows = self.pace.rows(now, self.trial.setup.speed, most)
            if rows:
                self._learn(rows)
        now = time.perf_counter()
        if self._changed and now >= self._due and self.watching:
            self._show()
            after = time.perf_counter()
            self._due = after + max(FRAME - (after - now), SHARE * (after - now))

    def _learn(self, rows: int) -> None:
        begin = time.perf_counter()
        self._changed = True
        try:
            learned = self.trial.learn(rows)
        except TOLD as error:
            self.trouble = str(error)
            self._notice(None, "error", self.trouble)
            return
        self.pace.learned(learned, begin, time.perf_counter(), self.trial.seen)

    def _obey(self, client: int, do: str, arguments: dict[str, Any]) -> None:
        try:
            getattr(self, f"_do_{do}")(client, **arguments)
        except TOLD as error:
            self._notice(client, "error", str(error).split("\n")[0])
            if do in ("set", "start", "preset", "add"):
                self._tell_scene(client)  # the control that asked for it shows the truth again
        except Exception:
            traceback.print_exc(file=sys.stderr)
            self._notice(client, "error", f"{do} failed: a mistake of this program's, see the terminal.")
        self._changed = True

    def _answer(self, question: Callable[[Trial], Any], answer: "Future[Any]") -> None:
        try:
            answer.set_result(question(self.trial))
        except BaseException as error:  # of whoever asked
            answer.set_exception(error)

    # ---- telling ----------------------------------------------------------------------------------

    def _show(self) -> None:
        self._changed = False
        if self._new_points:
            self._new_points = False
            self._tell_points(None)
        facts = self._facts()
        if self.learning:
            self.history.add(facts["seen"], facts["learned"], facts["cost"], facts["rate"])
        self._tell(Told(None, frames.encoded(facts, self.trial.arrays()), is_frame=True))

    def _facts(self) -> dict[str, Any]:
        state = "failed" if self.trouble else "running" if self.running else "paused"
        rate = self.pace.speed() if self.learning else 0.0
        about = {"kind": "frame", "generation": self.generation, "state": state, "rate": rate}
        return {**about, "trouble": self.trouble or None, **self.trial.facts()}

    def _notice(self, client: int | None, level: str, text: str) -> None:
        self._text(client, type="notice", level=level, text=text)

    def _text(self, client: int | None, **message: Any) -> None:
        self._tell(Told(client, json.dumps(message, allow_nan=False)))

    def _tell_scene(self, client: int | None = None) -> None:
        preset = named(self.trial.setup, self.presets, self.chosen)
        scene = scenes.scene(self.trial, self.sources, None if preset is None else self.presets[preset])
        self._text(client, type="scene", run=self.name, generation=self.generation, **scene)

    def _tell_points(self, client: int | None) -> None:
        if self.trial.mode == "plane":
            about = {"kind": "points", "generation": self.generation}
            self._tell(Told(client, frames.encoded(about, self.trial.points())))

    def _tell_all(self, client: int | None = None) -> None:
        self._tell_scene(client)
        self._tell_points(client)
        self._text(client, type="history", generation=self.generation, **self.history.told())

    def _mark(self, kind: str, text: str) -> None:
        seen = self.trial.seen
        replaces = self.history.mark(seen, kind, text, time.perf_counter())
        self._text(None, type="mark", generation=self.generation, seen=seen, text=text, replaces=replaces)

    # ---- commands ---------------------------------------------------------------------------------

    def _do_hello(self, client: int, setup: Any, link: bool, run: str | None) -> None:
        self.watching.add(client)
        if len(self.watching) == 1:
            self.pace.restart(time.perf_counter())
        self._text(client, type="welcome", run=self.name, **scenes.welcome(self.sources, self.presets))
        try:
            self._follow(client, setup, link, run)
        except TOLD as error:
            self._notice(client, "error", str(error).split("\n")[0])
        self.touched = True
        self._tell_all(client)

    def _follow(self, client: int, setup: Any, link: bool, run: str | None) -> None:
        """Do as a link says, or as a page remembers from before the server was started anew."""
        if setup is None:
            return
        wanted = self._wanted({"data": self.trial.setup.data, **setup}, alone=link)
        if wanted == self.trial.setup:
            return
        if link and len(self.watching) > 1:
            self._text(client, type="question", setup=wanted.told())
        elif link or (run != self.name and not self.touched):
            self._begin(wanted)

    def _do_left(self, client: int) -> None:
        self.watching.discard(client)
        self._do_release(client)

    def _do_start(self, client: int, setup: Any) -> None:
        self._begin(self._wanted(setup))
        self.running = True

    def _do_preset(self, client: int, name: str) -> None:
        if name not in self.presets:
            raise ValueError(f"there is no preset {shown(name)}; there are {', '.join(self.presets)}.")
        now, setup = self.trial.setup, self.presets[name].setup
        same = self.sources.mode(now.data) == self.sources.mode(setup.data)
        self.chosen = name
        self._begin(replace(setup, seed=now.seed, speed=now.speed if same else setup.speed))
        self.running = True

    def _do_reset(self, client: int, seed: str) -> None:
        setup = self.trial.setup
        self._begin(setup if seed == "same" else replace(setup, seed=(setup.seed + 1) % (1 << 32)))

    def _do_set(self, client: int, name: str, value: Any) -> None:
        setup = self.trial.setup.changed({name: value})
        self.trial.change(name, setup)
        if name == "speed":
            self.pace.restart(time.perf_counter())
        else:
            self.trouble = ""
            self._mark(name, scenes.change_in_words(name, setup))
        self._tell_scene()

    def _do_pause(self, client: int) -> None:
        self.running = False

    def _do_resume(self, client: int) -> None:
        self.running, self.trouble = True, ""
        self.pace.restart(time.perf_counter())

    def _do_step(self, client: int) -> None:
        self.running, self.trouble = False, ""
        self._learn(1)

    def _do_remove(self, client: int, neuron: int) -> None:
        self.trial.remove([neuron])
        self._mark(f"remove {neuron}", f"{scenes.numbered(neuron)} removed")

    def _do_add(self, client: int, count: int, at: tuple[float, float] | None) -> None:
        if at is not None:
            scenes.require_near(self.trial, [at])
        self.trial.add(count, at)
        newest = self.trial.ids[-1]
        self._mark(f"add {newest}", f"{scenes.numbered(newest)} added" if count == 1 else f"{count} added")

    def _do_move(self, client: int, neuron: int, to: tuple[float, float]) -> None:
        scenes.require_near(self.trial, [to])
        self.trial.hold(neuron, to)
        self.holding.setdefault(client, set()).add(neuron)

    def _do_release(self, client: int) -> None:
        self.trial.release(sorted(self.holding.pop(client, ())))

    def _do_paint(self, client: int, points: list[tuple[float, float]]) -> None:
        scenes.require_near(self.trial, points)
        self._painted(np.array(points), "painted")

    def _do_noise(self, client: int, count: int) -> None:
        source = scenes.points_of(self.trial)
        random = np.random.default_rng([self.trial.setup.seed, len(source.points)])
        self._painted(random.uniform(source.low, source.high, (count, 2)), "of noise")

    def _painted(self, points: Any, what: str) -> None:
        self.trial.paint(points)
        self._new_points = True
        self._mark("paint", f"points {what}")
        self._tell_scene()

    def _do_unpaint(self, client: int) -> None:
        self.trial.unpaint()
        self._new_points = True
        self._tell_scene()

    def _do_look(self, client: int, neuron: int) -> None:
        if neuron not in self.trial.ids:  # removed since; the page will see that for itself
            return
        about = {"kind": "look", "generation": self.generation, "neuron": neuron}
        self._tell(Told(client, frames.encoded(about, self.trial.strongest(neuron))))

    def _wanted(self, given: Any, alone: bool = False) -> Setup:
        """A setup from some of its values. Others stay, or are what suits the data: where that is another, or
        where the values must mean the same to everybody, whatever runs here now."""
        checked = Setup().changed(given)
        now = self.trial.setup
        if "data" in given and (alone or checked.data != now.data):
            suited = defaults(checked.data, self.sources.load(checked.data, checked.seed))
            now = suited if alone else replace(suited, seed=now.seed)
        return now.changed(given)

    def _begin(self, setup: Setup) -> None:
        """A new trial in place of the old one, if it can be."""
        trial = Trial(setup, self.sources.load(setup.data, setup.seed))
        self.trial.close()
        self.trial, self.history = trial, History()
        self.trouble, self.holding = "", {}
        self.generation += 1
        self.pace.restart(time.perf_counter())
        self._tell_all()


def saved(trial: Trial) -> bytes:
    """The model as a file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.safetensors"
        trial.model.save(path)
        return path.read_bytes()


def scripted(trial: Trial) -> str:
    """The trial as a Python script."""
    return trial.journal.script(trial.seen)
