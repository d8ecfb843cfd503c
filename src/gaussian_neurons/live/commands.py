"""The commands of a page, each a function of the run and the client, in a table by name."""

import time
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from gaussian_neurons.live import scenes
from gaussian_neurons.live.setup import SETTINGS, Setup, short_repr

if TYPE_CHECKING:
    from gaussian_neurons.live.run import Run

SEEDS = 1 << 32
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
    if started or not run.visited:
        run.running = not (run.starts_paused or (paused and not link))
        _show_one_sample(run)
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
    if preset is not None and (len(run.clients) == 1 or not run.visited):
        run.chosen = preset
    wanted = run.complete({"data": run.trial.setup.data, **setup}, from_defaults=link)
    if wanted == run.trial.setup:
        return False
    if link and len(run.clients) > 1:
        run.send_json(client, type="question", setup=wanted.as_json(), preset=preset)
        return False
    if not link and (run_name == run.name or run.visited):
        return False
    run.start_trial(wanted)
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
    run.chosen = preset or run.chosen
    run.start_trial(run.complete(setup), keep_added="data" not in setup)
    run.running = True


def preset(run: "Run", client: int, name: str) -> None:
    """Start a new trial with the settings of a figure and the current seed."""
    if name not in run.presets:
        raise ValueError(f"Unknown preset {short_repr(name)}. Known: {', '.join(run.presets)}.")
    run.chosen = name
    run.start_trial(replace(run.presets[name].setup, seed=run.trial.setup.seed))
    run.running = not run.starts_paused
    _show_one_sample(run)


def reset(run: "Run", client: int, seed: str) -> None:
    """Restart with the same seed or a new one. Added points are kept."""
    setup = run.trial.setup
    if seed == "new":
        setup = replace(setup, seed=(setup.seed + 1) % SEEDS)
    run.start_trial(setup, keep_added=True)
    _show_one_sample(run)


def _show_one_sample(run: "Run") -> None:
    """Learn one sample of Figure 1 if it starts paused: the page would show no sample otherwise."""
    if not run.running and not run.trial.seen and run.trial.setup.data == "one-sample":
        run.learn(1)


def change(run: "Run", client: int, name: str, value: Any) -> None:
    """Change a setting during the run."""
    setup = run.trial.setup.changed({name: value})
    if name == "classes" and run.trial.mode == "plane":
        raise ValueError("Points have no classes. Choose images first.")
    if setup == run.trial.setup and not (name == "K" and len(run.trial.ids) != value):
        return
    run.trial.change(name, setup)
    if name in ("speed", "K"):
        run.pace.restart(time.perf_counter())
    if name != "speed":
        run.error = ""
        run.mark(name, scenes.describe_change(name, setup))
    run.send_scene()


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
    run.trial.remove([neuron])
    run.mark(f"remove {neuron}", f"{scenes.neuron_label(neuron)} removed")


def add(run: "Run", client: int, count: int, at: tuple[float, float] | None) -> None:
    """Add neurons at random centers, or one at a given center."""
    if at is not None:
        scenes.require_near(run.trial, [at])
        count = 1
    run.trial.add(count, at)
    newest = run.trial.ids[-1]
    run.mark(f"add {newest}", f"{scenes.neuron_label(newest)} added" if count == 1 else f"{count} added")


def move(run: "Run", client: int, neuron: int, to: tuple[float, float]) -> None:
    """Move a neuron and hold it there."""
    if neuron not in run.trial.ids:  # another client removed it; the next frame shows that
        return
    scenes.require_near(run.trial, [to])
    run.trial.hold(neuron, to)
    run.held_by.setdefault(client, set()).add(neuron)


def release(run: "Run", client: int) -> None:
    """Release all neurons that the client holds."""
    run.trial.release(sorted(run.held_by.pop(client, ())))


def paint(run: "Run", client: int, points: list[tuple[float, float]]) -> None:
    """Add points."""
    scenes.require_near(run.trial, points)
    run.trial.paint(np.array(points))
    run.mark("paint", "points painted")
    run.send_scene()


def noise(run: "Run", client: int, count: int) -> None:
    """Add points that are uniform in the domain."""
    run.trial.add_noise(count)
    run.mark("paint", "noise added")
    run.send_scene()


def unpaint(run: "Run", client: int) -> None:
    """Remove all added points."""
    run.trial.unpaint()
    run.send_points()
    run.send_scene()


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
