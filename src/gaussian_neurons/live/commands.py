"""What a page may ask for, each as a function of the run: looked up by the name that messages have for it."""

import time
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from gaussian_neurons.live import scenes
from gaussian_neurons.live.setup import KNOWN, Setup, shown

if TYPE_CHECKING:
    from gaussian_neurons.live.run import Run

SEEDS = 1 << 32
TOLD = (ValueError, OSError, ModuleNotFoundError, FloatingPointError, MemoryError)  # what is said, not traced


def hello(
    here: "Run", client: int, setup: Any, preset: str | None, link: bool, run: str | None, paused: bool
) -> None:
    """Somebody has come: tell everything, and do as a link says."""
    here.watching.add(client)
    if len(here.watching) == 1:
        here.pace.restart(time.perf_counter())
    here.text(client, type="welcome", run=here.name, **scenes.welcome(here.sources, here.presets))
    began = False
    try:
        began = _follow(here, client, setup, preset, link, run)
    except TOLD as error:
        here.notice(client, "error", str(error).split("\n")[0])
    if began or not here.touched:
        here.running = not (here.waits or (paused and not link))
        _show_a_sample(here)
    here.touched = True
    if not began:
        here.tell_all(client)


def _follow(here: "Run", client: int, setup: Any, preset: str | None, link: bool, run: str | None) -> bool:
    """Do as a link says, or as a page remembers that knew a server before; whether a new trial began."""
    setup = setup and _sound(here, client, setup)
    if not setup:
        return False
    if preset is not None and (len(here.watching) == 1 or not here.touched):
        here.chosen = preset
    wanted = here.wanted({"data": here.trial.setup.data, **setup}, alone=link)
    if wanted == here.trial.setup:
        return False
    if link and len(here.watching) > 1:
        here.text(client, type="question", setup=wanted.told(), preset=preset)
        return False
    if not link and (run == here.name or here.touched):
        return False
    here.begin(wanted)
    return True


def _sound(here: "Run", client: int, setup: dict[str, Any]) -> dict[str, Any]:
    """What can be of a setup; values that cannot be are told, each, and left out."""
    sound = dict(setup)
    for name in [name for name in setup if name in KNOWN]:
        try:
            Setup().changed({name: setup[name]})
        except ValueError as error:
            here.notice(client, "error", f"{str(error).splitlines()[0]} It was left out.")
            del sound[name]
    return sound


def left(run: "Run", client: int) -> None:
    """Somebody is gone, and what was in that hand is let go."""
    run.watching.discard(client)
    release(run, client)


def start(run: "Run", client: int, setup: Any, preset: str | None = None) -> None:
    """A new trial; the preset is what to call it, where it could be several."""
    run.chosen = preset or run.chosen
    run.begin(run.wanted(setup))
    run.running = True


def preset(run: "Run", client: int, name: str) -> None:
    """A new trial with the settings of a figure; the seed stays."""
    if name not in run.presets:
        raise ValueError(f"there is no preset {shown(name)}; there are {', '.join(run.presets)}.")
    run.chosen = name
    run.begin(replace(run.presets[name].setup, seed=run.trial.setup.seed))
    run.running = not run.waits
    _show_a_sample(run)


def reset(run: "Run", client: int, seed: str) -> None:
    """The same from the start, or with another seed; what was painted stays."""
    setup = run.trial.setup
    run.begin(setup if seed == "same" else replace(setup, seed=(setup.seed + 1) % SEEDS), keep=True)
    _show_a_sample(run)


def _show_a_sample(run: "Run") -> None:
    """Where it rests from the start and is about one sample, there must be one to see."""
    if not run.running and not run.trial.seen and run.trial.setup.data == "one-sample":
        run.learn(1)


def change(run: "Run", client: int, name: str, value: Any) -> None:
    """Another value of a setting, as it runs."""
    setup = run.trial.setup.changed({name: value})
    if name == "classes" and run.trial.mode == "plane":
        raise ValueError("points have no classes: choose images first.")
    if setup == run.trial.setup and not (name == "K" and len(run.trial.ids) != value):
        return
    run.trial.change(name, setup)
    if name in ("speed", "K"):
        run.pace.restart(time.perf_counter())
    if name != "speed":
        run.trouble = ""
        run.mark(name, scenes.change_in_words(name, setup))
    run.tell_scene()


def pause(run: "Run", client: int) -> None:
    """Wait."""
    run.running = False


def resume(run: "Run", client: int) -> None:
    """Go on."""
    run.running, run.trouble = True, ""
    run.pace.restart(time.perf_counter())


def step(run: "Run", client: int) -> None:
    """One sample, and wait."""
    run.running, run.trouble = False, ""
    run.learn(1)


def remove(run: "Run", client: int, neuron: int) -> None:
    """A neuron goes."""
    run.trial.remove([neuron])
    run.mark(f"remove {neuron}", f"{scenes.numbered(neuron)} removed")


def add(run: "Run", client: int, count: int, at: tuple[float, float] | None) -> None:
    """Neurons come: some anywhere, or one at a place."""
    if at is not None:
        scenes.require_near(run.trial, [at])
        count = 1
    run.trial.add(count, at)
    newest = run.trial.ids[-1]
    run.mark(f"add {newest}", f"{scenes.numbered(newest)} added" if count == 1 else f"{count} added")


def move(run: "Run", client: int, neuron: int, to: tuple[float, float]) -> None:
    """A neuron is taken in the hand, and held there."""
    if neuron not in run.trial.ids:  # somebody else has removed it; whoever holds it will see that
        return
    scenes.require_near(run.trial, [to])
    run.trial.hold(neuron, to)
    run.holding.setdefault(client, set()).add(neuron)


def release(run: "Run", client: int) -> None:
    """What is in the hand is let go."""
    run.trial.release(sorted(run.holding.pop(client, ())))


def paint(run: "Run", client: int, points: list[tuple[float, float]]) -> None:
    """Points are added."""
    scenes.require_near(run.trial, points)
    run.trial.paint(np.array(points))
    _tell_painted(run, "painted")


def noise(run: "Run", client: int, count: int) -> None:
    """Points are added anywhere in the domain."""
    run.trial.drop_noise(count)
    _tell_painted(run, "of noise")


def _tell_painted(run: "Run", what: str) -> None:
    run.mark("paint", f"points {what}")
    run.tell_scene()


def unpaint(run: "Run", client: int) -> None:
    """Points that were added are taken back."""
    run.trial.unpaint()
    run.tell_points()
    run.tell_scene()


def look(run: "Run", client: int, neuron: int) -> None:
    """Somebody wants to know what a neuron answers to."""
    if neuron in run.trial.ids:  # else it was removed since; the page will see that for itself
        run.arrays(client, run.trial.strongest(neuron), kind="look", neuron=neuron)


COMMANDS: dict[str, Callable[..., None]] = {
    "hello": hello,
    "left": left,
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
    "look": look,
}
