"""Messages of the page: each is checked and bounded, and then executed as a function of the run."""

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from reprlib import repr as short
from typing import TYPE_CHECKING, Any

import numpy as np

from gaussian_neurons.base.checks import one_of, whole_number
from gaussian_neurons.base.json_text import parsed
from gaussian_neurons.live import scenes
from gaussian_neurons.live.setup import CHANGEABLE, MAX_NEURONS, SETTINGS, Setup, checked, optional, position
from gaussian_neurons.live.sources import LABELS

if TYPE_CHECKING:
    from gaussian_neurons.live.run import Run

MAX_LENGTH = 32 * 1024  # bytes of a message
MAX_PAINTED = 200  # points in a message
MAX_NOISE = 2000
MAX_NUMBER = 1 << 31  # of neurons and generations
SEEDS = 1 << 32
OF_GIVEN_WIDTHS = ("sigma", "lambda", "eta", "eta_sigma")  # settings without an automatic width
# Errors that are shown to the user. All others are bugs and print a traceback.
REPORTED = (ValueError, OSError, ModuleNotFoundError, FloatingPointError, MemoryError)

Command = tuple[str, dict[str, Any]]  # name, arguments
Check = Callable[[Any], Any]

COMMANDS: dict[str, Callable[..., None]] = {}  # functions of the run and the client
MESSAGES: dict[str, dict[str, Check]] = {}  # the checks of their arguments


def command(do: str, **checks: Check) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Add a function to the commands, with the checks of its arguments."""

    def added(function: Callable[..., None]) -> Callable[..., None]:
        COMMANDS[do], MESSAGES[do] = function, checks
        return function

    return added


def parse(text: str) -> Command:
    """The command in a message, or a ValueError that says what is invalid.

    Examples
    --------
    >>> parse('{"do": "reset", "seed": "new"}')
    ('reset', {'seed': 'new'})
    """
    try:
        message = parsed(text, parse_constant=_reject_constant)
    except ValueError as error:
        raise ValueError(f"A message must be JSON: {error}.") from None
    if not isinstance(message, dict):
        raise ValueError(f"A message must be an object with the key 'do', got {short(message)}.")
    do = message.pop("do", None)
    if not isinstance(do, str) or do not in MESSAGES:
        raise ValueError(f"Unknown command {short(do)}. Known: {', '.join(MESSAGES)}.")
    parameters = MESSAGES[do]
    unknown = [name for name in message if name not in parameters]
    if unknown:
        known = ", ".join(parameters) or "none"
        raise ValueError(f"Unknown argument {short(unknown[0])} of {do}. Known: {known}.")
    return do, {name: check(message.get(name)) for name, check in parameters.items()}


def _reject_constant(text: str) -> Any:
    raise ValueError(f"{text} is not a number")


def _object(value: Any) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise ValueError(f"Setup must be an object with names and values, got {short(value)}.")
    return value


def _flag(value: Any) -> bool:
    if value is not None and not isinstance(value, bool):
        raise ValueError(f"Expected true or false, got {short(value)}.")
    return bool(value)


def _name(value: Any) -> str:
    if not isinstance(value, str) or len(value) > 100:
        raise ValueError(f"Expected a name of at most 100 characters, got {short(value)}.")
    return value


def _points(value: Any) -> list[tuple[float, float]]:
    if not isinstance(value, list) or not 0 < len(value) <= MAX_PAINTED:
        raise ValueError(f"Points must be a list of 1 to {MAX_PAINTED} positions, got {short(value)}.")
    return [position(one) for one in value]


def _count(most: int, default: int) -> Check:
    return lambda value: whole_number("Count", default if value is None else value, 1, most)


_NEURON = checked(whole_number, "Neuron", 1, MAX_NUMBER)
_GENERATION = optional(checked(whole_number, "Generation", 1, MAX_NUMBER))  # within which numbers are valid
_CHANGEABLE = checked(one_of, "A setting (others cannot be changed during a run)", CHANGEABLE)


@command(
    "hello",
    setup=optional(_object),
    preset=optional(_name),
    link=_flag,
    run_name=optional(_name),
    paused=_flag,
)
def hello(
    run: "Run", client: int, setup: Any, preset: str | None, link: bool, run_name: str | None, paused: bool
) -> None:
    """A client connects: send it the whole state, and apply its link.

    Parameters
    ----------
    setup : settings from the address of the page, if any
    preset : preset from that address
    link : whether the user opened a link; False if the page only remembers earlier settings
    run_name : name of the run that the page showed before, if any
    paused : whether that run was paused
    """
    run.clients.add(client)
    if len(run.clients) == 1:
        run.pace.restart(time.perf_counter())
    run.send_json(client, type="welcome", run=run.name, **scenes.welcome(run.sources, run.presets))
    started = False
    try:
        started = _apply_address(run, client, setup, preset, link, run_name)
    except REPORTED as error:
        run.notice(client, error)
    if not run.visited:
        run.past.clear()  # the trial that nobody saw
        if run_name is not None:
            run.running = not paused
    run.visited = True
    if not started:
        run.send_all(client)


def _apply_address(
    run: "Run", client: int, setup: Any, preset: str | None, link: bool, run_name: str | None
) -> bool:
    """Apply the settings of a page's address. Returns whether a new trial was started."""
    setup = setup and _valid(run, client, setup)
    if not setup:
        return False
    wanted = run.complete({"data": run.trial.setup.data, **setup}, from_defaults=link)
    if wanted == run.trial.setup:
        if preset in run.presets and (len(run.clients) == 1 or not run.visited):
            run.origin = preset
        return False
    if link and len(run.clients) > 1:
        run.send_json(client, type="question", setup=wanted.as_json(), preset=preset)
        return False
    if not link and (run_name == run.name or run.visited):
        return False
    run.start_trial(wanted, "link opened", preset)
    return True


def _valid(run: "Run", client: int, setup: dict[str, Any]) -> dict[str, Any]:
    """The valid settings. Each invalid one is reported to the client and dropped."""
    valid = dict(setup)
    for name in [name for name in setup if name in SETTINGS]:
        try:
            Setup().changed({name: setup[name]})
        except ValueError as error:
            run.notice(client, f"{error} It is ignored.")
            del valid[name]
    return valid


def disconnect(run: "Run", client: int) -> None:
    """A client disconnects: release its neurons."""
    run.clients.discard(client)
    release(run, client)


@command("start", setup=_object, preset=optional(_name))
def start(run: "Run", client: int, setup: Any, preset: str | None = None) -> None:
    """Start a new trial. `preset` is its name if several presets have this setup.

    Added points are kept if the data stays.
    """
    keeps = "data" not in setup
    wanted = run.complete(setup)
    action = (
        ", ".join(scenes.describe_change(name, wanted) for name in setup) if keeps else LABELS[wanted.data]
    )
    run.start_trial(wanted, action, preset or (run.origin if keeps else None), keep_added=keeps)


@command("preset", name=_name)
def preset(run: "Run", client: int, name: str) -> None:
    """Start a new trial with the settings of a figure and the current seed."""
    if name not in run.presets:
        raise ValueError(f"Unknown preset {short(name)}. Known: {', '.join(run.presets)}.")
    chosen = run.presets[name]
    run.start_trial(replace(chosen.setup, seed=run.trial.setup.seed), chosen.label, name)


@command("reset", seed=checked(one_of, "Seed", ("same", "new")))
def reset(run: "Run", client: int, seed: str) -> None:
    """Restart with the same seed or a new one. Added points are kept."""
    setup = run.trial.setup
    if seed == "new":
        setup = replace(setup, seed=(setup.seed + 1) % SEEDS)
    run.start_trial(setup, "restart" if seed == "same" else f"seed {setup.seed}", run.origin, keep_added=True)


@command("set", name=_CHANGEABLE, value=lambda value: value)  # `Setup.changed` checks the value
def change(run: "Run", client: int, name: str, value: Any) -> None:
    """Change a setting during the run."""
    setup = run.trial.setup.changed({name: value})
    if name == "classes" and run.trial.mode == "plane":
        raise ValueError("Points have no classes. Choose images first.")
    if setup.clusters is not None and name in OF_GIVEN_WIDTHS:
        raise ValueError(
            "Neurons that find their own width have no such setting. Choose another shape first."
        )
    if setup == run.trial.setup and not (name == "K" and len(run.trial.ids) != value):
        return
    if name == "speed":
        run.trial.change(name, setup)
        run.send_scene()
    else:
        run.act(name, scenes.describe_change(name, setup), lambda: run.trial.change(name, setup))
        run.error = ""
    if name in ("speed", "K"):
        run.pace.restart(time.perf_counter())


@command("pause")
def pause(run: "Run", client: int) -> None:
    """Stop learning."""
    run.running = False


@command("resume")
def resume(run: "Run", client: int) -> None:
    """Continue learning."""
    run.running, run.error = True, ""
    run.pace.restart(time.perf_counter())


@command("step")
def step(run: "Run", client: int) -> None:
    """Learn one sample, then pause."""
    run.running, run.error = False, ""
    run.learn(1)


@command("remove", neuron=_NEURON, generation=_GENERATION)
def remove(run: "Run", client: int, neuron: int) -> None:
    """Remove a neuron."""
    if neuron not in run.trial.ids:  # it was removed before; the next frame shows that
        return
    text = f"{scenes.neuron_label(neuron)} removed"
    if run.trial.learned[run.trial.index(neuron)]:
        run.removed_at = time.perf_counter()  # the neuron that takes its place can then be followed
    run.act(f"remove {neuron}", text, lambda: run.trial.remove([neuron]))


@command("add", count=_count(MAX_NEURONS, 1), at=optional(position), generation=_GENERATION)
def add(run: "Run", client: int, count: int, at: tuple[float, float] | None) -> None:
    """Add neurons at random centers, or one at a given center."""
    if at is not None:
        scenes.require_near(run.trial, [at])
        count = 1
    newest = run.trial.last_id + count
    text = f"{scenes.neuron_label(newest)} added" if count == 1 else f"{count} added"
    run.act(f"add {newest}", text, lambda: run.trial.add(count, at))


@command("move", neuron=_NEURON, to=position, generation=_GENERATION)
def move(run: "Run", client: int, neuron: int, to: tuple[float, float]) -> None:
    """Move a neuron and hold it there."""
    if neuron not in run.trial.ids:  # another client removed it; the next frame shows that
        return
    scenes.require_near(run.trial, [to])
    if neuron in run.trial.held:
        run.trial.hold(neuron, to)
    else:
        run.act(f"move {neuron}", f"{scenes.neuron_label(neuron)} moved", lambda: run.trial.hold(neuron, to))
    run.held_by.setdefault(client, set()).add(neuron)


@command("release")
def release(run: "Run", client: int) -> None:
    """Release all neurons that the client holds."""
    run.trial.release(sorted(run.held_by.pop(client, ())))


@command("paint", points=_points, generation=_GENERATION)
def paint(run: "Run", client: int, points: list[tuple[float, float]]) -> None:
    """Add points."""
    scenes.require_near(run.trial, points)
    run.act("paint", "points painted", lambda: run.trial.paint(np.array(points)))


@command("noise", count=_count(MAX_NOISE, 200))
def noise(run: "Run", client: int, count: int) -> None:
    """Add points that are uniform in the domain."""
    run.act("noise", "noise added", lambda: run.trial.add_noise(count))


@command("unpaint")
def unpaint(run: "Run", client: int) -> None:
    """Remove all added points."""
    run.act("unpaint", "painted points removed", run.trial.unpaint)
    run.send_points()


@command("inspect", neuron=_NEURON, generation=_GENERATION)
def inspect(run: "Run", client: int, neuron: int) -> None:
    """Send the samples with the strongest responses of a neuron."""
    if neuron in run.trial.ids:  # otherwise it was removed; the next frame shows that
        run.send_arrays(client, run.trial.strongest(neuron), kind="inspect", neuron=neuron)


@command("undo")
def undo(run: "Run", client: int) -> None:
    """Undo the last action."""
    run.undo()


@command("redo")
def redo(run: "Run", client: int) -> None:
    """Redo the action that was undone last."""
    run.redo()


COMMANDS["disconnect"] = disconnect  # not a message
