"""The thread that learns: it executes commands in their order, and sends the state to the clients."""

import json
import queue
import secrets
import sys
import tempfile
import threading
import time
import traceback
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from copy import copy
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from gaussian_neurons.live import frames, scenes
from gaussian_neurons.live.commands import COMMANDS, REPORTED, Command
from gaussian_neurons.live.history import History
from gaussian_neurons.live.pace import MAX_ROWS, Pace
from gaussian_neurons.live.presets import Preset
from gaussian_neurons.live.setup import Setup
from gaussian_neurons.live.sources import Images, Sources, default_setup
from gaussian_neurons.live.trial import Trial

FRAME_INTERVAL = {"image": 0.2, "plane": 0.05}  # seconds between two frames while samples are learned ...
SHORT_INTERVAL = 0.05  # ... and after a command: drawing a frame costs the browser more than sending it
LEARNING_SHARE = 6  # times the duration of a frame that is left for learning after it
HELD_ROWS = 200  # samples between two placements of a held neuron
MAX_COMMAND_TIME = 0.1  # seconds of consecutive commands before learning and frames get a turn
MAX_UNDO = 50  # actions
FOLLOWED = 30.0  # samples per second up to which each step is shown before it is made
SLOW = {"image": 20_000.0, "plane": 400.0}  # samples per second after a learned neuron was removed ...
DOUBLES, MAX_DOUBLINGS = 1.0, 8  # ... and seconds in which that doubles, and how often


class Outgoing(NamedTuple):
    """A message to clients."""

    to: int | None  # a client, or None: all
    data: str | bytes
    is_frame: bool = False  # a newer frame replaces it


class Moment(NamedTuple):
    """What an action changes, as a value."""

    action: str  # the action before or after which this is the state
    trial: Trial
    history: History
    origin: str | None


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
        self.running, self.error = False, ""
        self.clients: set[int] = set()
        self.held_by: dict[int, set[int]] = {}  # client → neurons that it holds
        self.removed_at = -float("inf")  # time at which a learned neuron was removed
        self.visited = False  # whether a client has ever connected
        self.origin = self._preset_of(setup)  # name of the preset that the trial started with
        self.past: deque[Moment] = deque(maxlen=MAX_UNDO)  # the states before the actions
        self.future: deque[Moment] = deque()  # the states from which actions were undone
        self._queue: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()  # None: stop
        self._changed, self._sent_points, self._stopping = True, self.trial.n_points, False
        self._commanded = False  # whether a command was executed since the last frame
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

    def submit(self, client: int, command: Command) -> "Future[None]":
        """Execute a command between two steps of the thread."""
        return self._between(partial(self._do, partial(self._execute, client, command)))

    def query(self, question: Callable[[Trial], Any]) -> "Future[Any]":
        """The result of a function of the trial, computed between two steps of the thread."""
        return self._between(lambda: question(self.trial))

    def _between(self, step: Callable[[], Any]) -> "Future[Any]":
        result: Future[Any] = Future()
        self._queue.put(partial(_fulfil, result, step))
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

    @property
    def speed(self) -> float:
        """Samples per second: the chosen speed, reached slowly after a learned neuron was removed."""
        chosen = self.trial.setup.speed or float("inf")
        elapsed = (time.perf_counter() - self.removed_at) / DOUBLES
        return chosen if elapsed > MAX_DOUBLINGS else min(chosen, SLOW[self.trial.mode] * 2**elapsed)

    def _wait(self) -> float | None:
        """Seconds until learning or a frame is due; None if neither is."""
        now = time.perf_counter()
        waits = []
        if self.learning:
            waits.append(self.pace.wait(now, self.speed))
        if self._changed and self.clients:
            waits.append(max(0.0, self._frame_due() - now))
        return min(waits, default=None)

    def _frame_due(self) -> float:
        """The time of the next frame. Slow frames are sent less often, to leave most time for learning."""
        if not self.learning:
            return self._frame_at + SHORT_INTERVAL
        interval = SHORT_INTERVAL if self._commanded else FRAME_INTERVAL[self.trial.mode]
        return self._frame_at + max(interval, LEARNING_SHARE * self._frame_took)

    def _advance(self) -> None:
        """Learn samples and send a frame, as far as they are due."""
        now = time.perf_counter()
        if self.learning:
            most = HELD_ROWS if self.trial.held else MAX_ROWS
            rows = self.pace.rows(now, self.speed, most)
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
            self.notice(None, error)
            return
        self.pace.learned(learned, begin, time.perf_counter(), self.trial.seen)

    def _execute(self, client: int, command: Command) -> None:
        do, arguments = command
        if arguments.pop("generation", None) not in (None, self.generation):
            return  # it concerns neurons of an earlier trial
        self._changed = self._commanded = True
        try:
            COMMANDS[do](self, client, **arguments)
        except REPORTED as error:
            self.notice(client, error)
            if do in ("set", "start", "preset"):
                self.send_scene(client)  # so that the control shows the current value again

    def start_trial(
        self, setup: Setup, action: str, origin: str | None = None, keep_added: bool = False
    ) -> None:
        """Replace the trial by a new one, which runs if the old one did. An error leaves the old one.

        Parameters
        ----------
        setup : settings of the new trial
        action : what the user did
        origin : name of a preset that the setup is derived from; None: the first one with this setup
        keep_added : whether to keep points that were painted or added as noise
        """
        source = self.sources.load(setup.data, setup.seed)
        if not isinstance(source, Images):
            setup = replace(setup, classes=None)  # points have none
        trial = Trial(setup, self.trial.with_added(source) if keep_added else source)
        self._remember(self._moment(action))
        self._exchange(trial, History(), origin if origin in self.presets else self._preset_of(setup))

    def act(self, kind: str, text: str, change: Callable[[], Any]) -> None:
        """Change the trial by a user's action, mark it on the curves, and remember the state before it.

        Actions of the same kind within a short time, such as the positions of a slider, are one.
        """
        continues = bool(self.past) and self.history.continues(kind, time.perf_counter())
        before = self.past[-1]._replace(action=text) if continues else self._moment(text)
        change()
        if continues:
            self.past.pop()
        self._remember(before)
        self.mark(kind, text)
        self.send_scene()

    def _moment(self, action: str) -> Moment:
        return Moment(action, copy(self.trial), copy(self.history), self.origin)

    def _remember(self, before: Moment) -> None:
        self.past.append(before)
        self.future.clear()

    def undo(self) -> None:
        """Return to the state before the last action: neurons, settings, points, samples and script."""
        self._return(self.past, self.future)

    def redo(self) -> None:
        """Return to the state in which the last action was undone."""
        self._return(self.future, self.past)

    def _return(self, states: deque[Moment], others: deque[Moment]) -> None:
        if states:
            moment = states.pop()
            others.append(self._moment(moment.action))
            moment.trial.release(list(moment.trial.held))
            self._exchange(moment.trial, moment.history, moment.origin)

    def _exchange(self, trial: Trial, history: History, origin: str | None) -> None:
        self.trial.close()
        self.trial, self.history, self.origin = trial, history, origin
        self.error, self.held_by, self.removed_at = "", {}, -float("inf")
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
        if checked.clusters is not None:
            base = base.with_automatic_width(checked.clusters)
        elif "covariance_type" in values and "eta_sigma" not in values:
            base = base.with_covariances(checked.covariance_type)
        return base.changed(values)

    def _preset_of(self, setup: Setup) -> str | None:
        """The first preset with this setup, if any."""
        return next((name for name, one in self.presets.items() if one.setup.same_experiment(setup)), None)

    # ---- outgoing messages ------------------------------------------------------------------------

    def _send_frame(self) -> None:
        self._changed = self._commanded = False
        if self.trial.n_points > self._sent_points:
            self._send_points_from(self._sent_points, None)
            self._sent_points = self.trial.n_points
        for old, new, center in self.trial.relearned():
            text = f"{scenes.neuron_label(new)} has learned the pattern of {scenes.neuron_label(old)}"
            self.mark(f"relearned {old}", text)
            place = center.tolist() if self.trial.mode == "plane" else None
            self.send_json(None, type="relearned", old=old, new=new, place=place, text=f"{text}.")
        facts = self._facts()
        if self.learning:
            self.history.add(facts["seen"], facts["learned"], facts["cost"], facts["moved"])
        arrays = self.trial.arrays()
        if self.trial.mode == "plane" and not self.error and (not self.running or self.speed <= FOLLOWED):
            arrays |= self.trial.preview()
        self._send(Outgoing(None, frames.encoded(facts, arrays), is_frame=True))

    def _facts(self) -> dict[str, Any]:
        state = "failed" if self.error else "running" if self.running else "paused"
        rate = self.pace.speed() if self.learning else 0.0
        about = {"kind": "frame", "generation": self.generation, "state": state, "rate": rate}
        return {**about, "error": self.error or None, **self.trial.facts()}

    def notice(self, client: int | None, problem: Exception | str) -> None:
        """Send the first line of an error to a client, or to all."""
        self.send_json(client, type="notice", text=str(problem).split("\n")[0])

    def send_json(self, client: int | None, **message: Any) -> None:
        """Send a JSON message."""
        self._send(Outgoing(client, json.dumps(message, allow_nan=False)))

    def send_arrays(self, client: int | None, arrays: dict[str, Any], **facts: Any) -> None:
        """Send a binary message."""
        facts["generation"] = self.generation
        self._send(Outgoing(client, frames.encoded(facts, arrays)))

    def send_scene(self, client: int | None = None) -> None:
        """Send everything about the trial except neurons and points."""
        scene = scenes.scene(self.trial, None if self.origin is None else self.presets[self.origin])
        for name, moments in (("undo", self.past), ("redo", self.future)):
            scene[name] = moments[-1].action if moments else None
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
        curves = {"points": self.history.points, "marks": self.history.marks}
        self.send_json(client, type="history", generation=self.generation, **curves)

    def mark(self, kind: str, text: str) -> None:
        """Mark an action or an event on the curves."""
        seen, replaces = self.history.mark(self.trial.seen, kind, text, time.perf_counter())
        self.send_json(None, type="mark", generation=self.generation, seen=seen, text=text, replaces=replaces)


def _fulfil(result: "Future[Any]", step: Callable[[], Any]) -> None:
    """Set the result of a step, unless nobody waits for it."""
    if not result.set_running_or_notify_cancel():
        return
    try:
        result.set_result(step())
    except BaseException as error:  # the caller handles it
        result.set_exception(error)


def model_file(trial: Trial) -> bytes:
    """The bytes of the model's file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.safetensors"
        trial.model.save(path)
        return path.read_bytes()
