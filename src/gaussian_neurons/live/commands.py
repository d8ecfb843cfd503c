"""The commands of a page, each a function of the run and the client, in a table by name."""

import time
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from gaussian_neurons.live import scenes
from gaussian_neurons.live.setup import SETTINGS, Setup, short_repr
from gaussian_neurons.live.sources import LABELS

if TYPE_CHECKING:
    from gaussian_neurons.live.run import Run

SEEDS = 1 << 32
OF_GIVEN_WIDTHS = ("sigma", "lambda", "eta", "eta_sigma")  # settings without an automatic width
# Errors that are shown to the user. All others are bugs and print a traceback.
REPORTED = (ValueError, OSError, ModuleNotFoundError, FloatingPointError, MemoryError)


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
        run.notice(client, "error", str(error).split("\n")[0])
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
            run.notice(client, "error", f"{str(error).splitlines()[0]} It is ignored.")
            del valid[name]
    return valid


def disconnect(run: "Run", client: int) -> None:
    """A client disconnects: release its neurons."""
    run.clients.discard(client)
    release(run, client)


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


def preset(run: "Run", client: int, name: str) -> None:
    """Start a new trial with the settings of a figure and the current seed."""
    if name not in run.presets:
        raise ValueError(f"Unknown preset {short_repr(name)}. Known: {', '.join(run.presets)}.")
    chosen = run.presets[name]
    run.start_trial(replace(chosen.setup, seed=run.trial.setup.seed), chosen.label, name)


def reset(run: "Run", client: int, seed: str) -> None:
    """Restart with the same seed or a new one. Added points are kept."""
    setup = run.trial.setup
    if seed == "new":
        setup = replace(setup, seed=(setup.seed + 1) % SEEDS)
    run.start_trial(setup, "restart" if seed == "same" else f"seed {setup.seed}", run.origin, keep_added=True)


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


def pause(run: "Run", client: int) -> None:
    """Stop learning."""
    run.running = False


def resume(run: "Run", client: int) -> None:
    """Continue learning."""
    run.running, run.error = True, ""
    run.pace.restart(time.perf_counter())


def step(run: "Run", client: int) -> None:
    """Learn one sample, then pause."""
    run.running, run.error = False, ""
    run.learn(1)


def remove(run: "Run", client: int, neuron: int) -> None:
    """Remove a neuron."""
    text = f"{scenes.neuron_label(neuron)} removed"
    if neuron in run.trial.ids and run.trial.learned[run.trial.index(neuron)]:
        run.removed_at = time.perf_counter()  # the neuron that takes its place can then be followed
    run.act(f"remove {neuron}", text, lambda: run.trial.remove([neuron]))


def add(run: "Run", client: int, count: int, at: tuple[float, float] | None) -> None:
    """Add neurons at random centers, or one at a given center."""
    if at is not None:
        scenes.require_near(run.trial, [at])
        count = 1
    newest = run.trial.last_id + count
    text = f"{scenes.neuron_label(newest)} added" if count == 1 else f"{count} added"
    run.act(f"add {newest}", text, lambda: run.trial.add(count, at))


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


def release(run: "Run", client: int) -> None:
    """Release all neurons that the client holds."""
    run.trial.release(sorted(run.held_by.pop(client, ())))


def paint(run: "Run", client: int, points: list[tuple[float, float]]) -> None:
    """Add points."""
    scenes.require_near(run.trial, points)
    run.act("paint", "points painted", lambda: run.trial.paint(np.array(points)))


def noise(run: "Run", client: int, count: int) -> None:
    """Add points that are uniform in the domain."""
    run.act("noise", "noise added", lambda: run.trial.add_noise(count))


def unpaint(run: "Run", client: int) -> None:
    """Remove all added points."""
    run.act("unpaint", "painted points removed", run.trial.unpaint)
    run.send_points()


def inspect(run: "Run", client: int, neuron: int) -> None:
    """Send the samples with the strongest responses of a neuron."""
    if neuron in run.trial.ids:  # otherwise it was removed; the next frame shows that
        run.send_arrays(client, run.trial.strongest(neuron), kind="inspect", neuron=neuron)


COMMANDS: dict[str, Callable[..., None]] = {
    "hello": hello,
    "disconnect": disconnect,
    "start": start,
    "preset": preset,
    "reset": reset,
    "undo": lambda run, client: run.undo(),
    "redo": lambda run, client: run.redo(),
    "set": change,
    "pause": pause,
    "resume": resume,
    "step": step,
    "remove": remove,
    "add": add,
    "move": move,
    "release": release,
    "paint": paint,
    "noise": noise,
    "unpaint": unpaint,
    "inspect": inspect,
}
