"""The thread that learns: it executes commands in their order, and sends the state to the clients."""

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
from gaussian_neurons.live.commands import COMMANDS, REPORTED
from gaussian_neurons.live.history import History
from gaussian_neurons.live.messages import Command
from gaussian_neurons.live.pace import MAX_ROWS, Pace
from gaussian_neurons.live.presets import Preset, matching
from gaussian_neurons.live.setup import Setup
from gaussian_neurons.live.sources import Images, Sources, default_setup
from gaussian_neurons.live.trial import Trial

FRAME_INTERVAL = 0.05  # seconds
LEARNING_SHARE = 6  # times the duration of a frame that is left for learning after it
HELD_ROWS = 200  # samples between two placements of a held neuron
MAX_WAITING = 32  # commands of a client
MAX_COMMAND_TIME = 0.1  # seconds of consecutive commands before learning and frames get a turn


class Outgoing(NamedTuple):
    """A message to clients."""

    to: int | None  # a client, or None: all
    data: str | bytes
    is_frame: bool = False  # a newer frame replaces it


class Run:
    """A trial that learns while at least one client is connected.

    Parameters
    ----------
    sources : the available data
    setup : the first settings
    presets : the presets of the page
    send : called in the thread of the run with every outgoing message
    """

    def __init__(
        self, sources: Sources, setup: Setup, presets: dict[str, Preset], send: Callable[[Outgoing], None]
    ) -> None:
        self.name = secrets.token_hex(8)
        self.sources, self.presets, self._send = sources, presets, send
        self.trial = Trial(setup, sources.load(setup.data, setup.seed))
        self.generation = 1  # counts trials
        self.history, self.pace = History(), Pace()
        self.running, self.error = True, ""
        self.clients: set[int] = set()
        self.held_by: dict[int, set[int]] = {}  # client → neurons that it holds
        self.visited = False  # whether a client has ever connected
        self.chosen: str | None = None  # the preset chosen last
        self._queue: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()  # None: stop
        self._free: defaultdict[int, threading.Semaphore]  # client → commands that it may still send
        self._free = defaultdict(partial(threading.Semaphore, MAX_WAITING))
        self._last: dict[int, Command] = {}  # client → its last command, while that waits
        self._last_lock = threading.Lock()
        self._changed, self._sent_points, self._stopping = True, self.trial.n_points, False
        self._advanced_at, self._frame_at = 0.0, 0.0  # times of the last learning and the last frame
        self._frame_took = 0.0  # seconds
        self._thread = threading.Thread(target=self._work, name="learning", daemon=True)

    # ---- called by other threads ------------------------------------------------------------------

    def start(self) -> None:
        """Start the thread. Learning starts when a client connects."""
        self._thread.start()

    def stop(self) -> None:
        """Stop after the current step. Waiting commands are dropped."""
        self._stopping = True
        self._queue.put(None)
        self._thread.join()

    def submit(self, client: int, command: Command) -> bool:
        """Queue a command. Returns False if too many commands of this client wait."""
        with self._last_lock:
            if client in self._last and messages.merge(self._last[client], command):
                return True
            if not self._free[client].acquire(blocking=False):
                return False
            self._last[client] = command
            self._queue.put(partial(self._execute, client, command))
        return True

    def disconnect(self, client: int) -> None:
        """Queue the disconnection of a client."""
        self._queue.put(partial(self._execute, client, ("disconnect", {})))

    def query(self, question: Callable[[Trial], Any]) -> "Future[Any]":
        """The result of a function of the trial, computed between two steps of the thread."""
        result: Future[Any] = Future()
        self._queue.put(partial(self._answer, question, result))
        return result

    # ---- the thread -------------------------------------------------------------------------------

    def _work(self) -> None:
        try:
            while (step := self._next()) is not None and not self._stopping:
                self._do(step)
        finally:
            self.trial.close()

    def _next(self) -> Callable[[], None] | None:
        """The next step: a command, or learning and frames; None to stop."""
        wait = self._wait()
        if wait == 0 and time.perf_counter() - self._advanced_at > MAX_COMMAND_TIME:
            return self._advance
        try:
            if wait == 0:
                return self._queue.get_nowait()
            step = self._queue.get(timeout=wait)
        except queue.Empty:
            return self._advance
        self._advanced_at = time.perf_counter()  # nothing else was due
        return step

    def _do(self, step: Callable[[], None]) -> None:
        """Execute a step. A bug in it must not end the thread."""
        try:
            step()
        except Exception as error:
            traceback.print_exc(file=sys.stderr)
            self.error = f"Internal error ({type(error).__name__}): see the terminal."
            self._changed = False  # sending the frame may be what fails: do not repeat it
            self.send_json(None, type="failed", error=self.error)

    @property
    def learning(self) -> bool:
        """Whether samples are learned now."""
        return self.running and not self.error and bool(self.clients)

    def _wait(self) -> float | None:
        """Seconds until learning or a frame is due; None if neither is."""
        now = time.perf_counter()
        waits = []
        if self.learning:
            waits.append(self.pace.wait(now, self.trial.setup.speed))
        if self._changed and self.clients:
            waits.append(max(0.0, self._frame_due() - now))
        return min(waits, default=None)

    def _frame_due(self) -> float:
        """The time of the next frame. Slow frames are sent less often, to leave most time for learning."""
        rest = LEARNING_SHARE * self._frame_took if self.learning else 0.0
        return self._frame_at + max(FRAME_INTERVAL - self._frame_took, rest)

    def _advance(self) -> None:
        """Learn samples and send a frame, as far as they are due."""
        now = time.perf_counter()
        if self.learning:
            most = HELD_ROWS if self.trial.held else MAX_ROWS
            rows = self.pace.rows(now, self.trial.setup.speed, most)
            if rows:
                self.learn(rows)
        now = time.perf_counter()
        if self._changed and now >= self._frame_due() and self.clients:
            self._send_frame()
            self._frame_at = time.perf_counter()
            self._frame_took = self._frame_at - now
        self._advanced_at = time.perf_counter()

    def learn(self, rows: int) -> None:
        """Learn at most `rows` samples. An error stops learning and is sent to all clients."""
        begin = time.perf_counter()
        self._changed = True
        try:
            learned = self.trial.learn(rows)
        except REPORTED as error:
            self.error = str(error)
            self.notice(None, "error", self.error)
            return
        self.pace.learned(learned, begin, time.perf_counter(), self.trial.seen)

    def _execute(self, client: int, command: Command) -> None:
        do, arguments = command
        with self._last_lock:
            if do == "disconnect" or self._last.get(client) is command:
                self._last.pop(client, None)
            if do == "disconnect":
                self._free.pop(client, None)
            else:
                self._free[client].release()
        if arguments.pop("generation", None) not in (None, self.generation):
            return  # it concerns neurons of an earlier trial
        self._changed = True
        try:
            COMMANDS[do](self, client, **arguments)
        except REPORTED as error:
            self.notice(client, "error", str(error).split("\n")[0])
            if do in ("set", "start", "preset"):
                self.send_scene(client)  # so that the control shows the current value again

    def _answer(self, question: Callable[[Trial], Any], result: "Future[Any]") -> None:
        if not result.set_running_or_notify_cancel():
            return
        try:
            result.set_result(question(self.trial))
        except BaseException as error:  # the caller handles it
            result.set_exception(error)

    def start_trial(self, setup: Setup, keep_added: bool = False) -> None:
        """Replace the trial by a new one. If that fails, the old one stays.

        Parameters
        ----------
        setup : settings of the new trial
        keep_added : whether to keep points that were painted or added as noise
        """
        source = self.sources.load(setup.data, setup.seed)
        if not isinstance(source, Images):
            setup = replace(setup, classes=None)  # points have none
        trial = Trial(setup, self.trial.with_added(source) if keep_added else source)
        self.trial.close()
        self.trial, self.history = trial, History()
        self.error, self.held_by = "", {}
        self.generation += 1
        self.pace.restart(time.perf_counter())
        self.send_all()

    def complete(self, values: Any, from_defaults: bool = False) -> Setup:
        """A complete setup from some of its values.

        The other values are the current ones, or the defaults of the data if the data changes.

        Parameters
        ----------
        values : names and values
        from_defaults : always use the defaults of the data, so that a link means the same for everyone
        """
        checked = Setup().changed(values)
        base = self.trial.setup
        if "data" in values and (from_defaults or checked.data != base.data):
            defaults = default_setup(checked.data, self.sources.load(checked.data, checked.seed))
            base = defaults if from_defaults else replace(defaults, seed=base.seed)
        if "covariance_type" in values and "eta_sigma" not in values:
            base = base.with_covariances(checked.covariance_type)
        return base.changed(values)

    @property
    def preset(self) -> Preset | None:
        """The preset with the current settings, if any."""
        name = matching(self.trial.setup, self.trial.journal.setup, self.presets, self.chosen)
        return None if name is None else self.presets[name]

    @property
    def starts_paused(self) -> bool:
        """Whether the current preset starts paused."""
        return self.preset is not None and self.preset.starts_paused

    # ---- outgoing messages ------------------------------------------------------------------------

    def _send_frame(self) -> None:
        self._changed = False
        if self.trial.n_points > self._sent_points:
            self._send_points_from(self._sent_points, None)
            self._sent_points = self.trial.n_points
        for old, new in self.trial.relearned():
            text = f"{scenes.neuron_label(new)} has learned the pattern of {scenes.neuron_label(old)}"
            self.mark(f"relearned {old}", text)
            self.notice(None, "info", f"{text}.")
        facts = self._facts()
        if self.learning:
            self.history.add(facts["seen"], facts["learned"], facts["cost"], facts["rate"])
        self._send(Outgoing(None, frames.encoded(facts, self.trial.arrays()), is_frame=True))

    def _facts(self) -> dict[str, Any]:
        state = "failed" if self.error else "running" if self.running else "paused"
        rate = self.pace.speed() if self.learning else 0.0
        about = {"kind": "frame", "generation": self.generation, "state": state, "rate": rate}
        return {**about, "error": self.error or None, **self.trial.facts()}

    def notice(self, client: int | None, level: str, text: str) -> None:
        """Send a text to a client, or to all."""
        self.send_json(client, type="notice", level=level, text=text)

    def send_json(self, client: int | None, **message: Any) -> None:
        """Send a JSON message."""
        self._send(Outgoing(client, json.dumps(message, allow_nan=False)))

    def send_arrays(self, client: int | None, arrays: dict[str, Any], **facts: Any) -> None:
        """Send a binary message."""
        facts["generation"] = self.generation
        self._send(Outgoing(client, frames.encoded(facts, arrays)))

    def send_scene(self, client: int | None = None) -> None:
        """Send everything about the trial except neurons and points."""
        scene = scenes.scene(self.trial, self.preset)
        self.send_json(client, type="scene", run=self.name, generation=self.generation, **scene)

    def _send_points_from(self, first: int, client: int | None) -> None:
        if self.trial.mode == "plane":
            self.send_arrays(client, self.trial.points(first), kind="points", first=first)

    def send_points(self, client: int | None = None) -> None:
        """Send all points. Points added later are sent with the next frame."""
        self._send_points_from(0, client)
        if client is None:
            self._sent_points = self.trial.n_points

    def send_all(self, client: int | None = None) -> None:
        """Send the whole state, except neurons, to a new client, or of a new trial to all."""
        self.send_scene(client)
        self.send_points(client)
        self.send_json(client, type="history", generation=self.generation, **self.history.as_json())

    def mark(self, kind: str, text: str) -> None:
        """Mark an action on the curves."""
        seen, replaces = self.history.mark(self.trial.seen, kind, text, time.perf_counter())
        self.send_json(None, type="mark", generation=self.generation, seen=seen, text=text, replaces=replaces)


def model_file(trial: Trial) -> bytes:
    """The bytes of the model's file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.safetensors"
        trial.model.save(path)
        return path.read_bytes()
