"""What a page must know besides the frames: the setup, the source, what can be chosen, in words."""

from collections.abc import Sequence
from importlib.metadata import version
from typing import Any

from gaussian_neurons.live.presets import Preset
from gaussian_neurons.live.setup import KNOWN, Setup
from gaussian_neurons.live.sources import Images, Points, Sources, defaults
from gaussian_neurons.live.trial import Trial

NEAR = 3.0  # sides of the domain that a place may be away from it
SUBSCRIPTS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")
SYMBOLS = {"sigma": "σ", "lambda": "λ", "eta": "η_μ", "eta_sigma": "η_σ", "sample_width": "σ_x"}


def welcome(sources: Sources, presets: dict[str, Preset]) -> dict[str, Any]:
    """What there is to choose from."""
    return {
        "version": version("gaussian-neurons"),
        "datasets": sources.known(),
        "presets": [preset.told() for preset in presets.values()],
    }


def scene(trial: Trial, sources: Sources, preset: Preset | None) -> dict[str, Any]:
    """The trial, but for its neurons."""
    setup, source = trial.setup, trial.source
    return {
        "mode": trial.mode,
        "setup": setup.told(),
        "preset": None if preset is None else preset.name,
        "note": _note(source, preset),
        "data": source.text,
        "ranges": ranges(setup, trial),
        "patch": list(source.patch(setup)) if isinstance(source, Images) else None,
        "classes": _classes(source) if isinstance(source, Images) else None,
        "domain": [*source.low, *source.high] if isinstance(source, Points) else None,
        "axes": source.axes if isinstance(source, Points) else None,
        "points": len(source.points) if isinstance(source, Points) else None,
        "painted": source.added if isinstance(source, Points) else None,
    }


def _note(source: Images | Points, preset: Preset | None) -> str | None:
    if isinstance(source, Points):
        return source.note
    return None if preset is None else preset.note


def _classes(source: Images) -> list[dict[str, Any]] | None:
    if source.labels is None:
        return None
    return [{"value": value, "name": name} for value, name in enumerate(source.names)]


def ranges(setup: Setup, trial: Trial) -> dict[str, list[float]]:
    """Between which numbers, all above zero, a slider is of use; where 0 makes sense it has that besides."""
    usual = defaults(setup.data, trial.source)
    width, size = usual.width, 1
    if isinstance(trial.source, Images):
        size = trial.source.most_size()
        width *= max(1, setup.size**2 / usual.size**2)  # squared distances grow with the pixels
    return {
        "K": [1, 100],
        "sigma": [width / 100, width * 100],
        "lambda": [0.001, 2],
        "eta": [width / 1000, width],
        "eta_sigma": [0.001, 1],
        "size": [1, size],
        "noise": [0.005, 0.5],
        "sample_width": [width / 100, width * 10],
        "speed": [1, 1e7],
    }


def numbered(neuron: int) -> str:
    """What a neuron is called.

    Examples
    --------
    >>> numbered(12)
    'μ₁₂'
    """
    return f"μ{str(neuron).translate(SUBSCRIPTS)}"


def change_in_words(name: str, setup: Setup) -> str:
    """A change of the setup, for a mark on the curves."""
    value = getattr(setup, KNOWN[name].field)
    if name == "classes":
        return "all classes" if value is None else f"only {', '.join(map(str, value))}"
    return f"{SYMBOLS.get(name, name)} = {value:.4g}"


def points_of(trial: Trial) -> Points:
    """The points of a trial in the plane."""
    if not isinstance(trial.source, Points):
        raise ValueError("there are points in the plane only: choose a mixture first.")
    return trial.source


def require_near(trial: Trial, places: Sequence[tuple[float, float]]) -> None:
    """Refuse places that are far out of the picture."""
    source = points_of(trial)
    side = source.high - source.low
    for place in places:
        if ((place < source.low - NEAR * side) | (place > source.high + NEAR * side)).any():
            raise ValueError(f"{place} is too far away: stay within the picture.")
