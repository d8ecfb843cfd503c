"""What the page shows besides frames: settings, data, slider ranges, labels."""

from collections.abc import Sequence
from typing import Any

from gaussian_neurons.live.presets import Preset
from gaussian_neurons.live.setup import SETTINGS, Setup
from gaussian_neurons.live.sources import Images, Points, Sources, default_setup
from gaussian_neurons.live.trial import Trial
from gaussian_neurons.theory import equivalent_width

LESS_INHIBITION = 0.015  # lambda of Figure 3a, whose patches are larger than those of Figure 2
MAX_DISTANCE = 3.0  # of a position from the domain, in sides of the domain
SUBSCRIPTS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")
SYMBOLS = {
    "sigma": "σ",
    "lambda": "λ",
    "eta": "η_μ",
    "eta_sigma": "η_σ",
    "sample_width": "σ_x",
    "size": "patch size",
    "covariance_type": "shape",
    "clusters": "clusters",
}


def welcome(sources: Sources, presets: dict[str, Preset]) -> dict[str, Any]:
    """Available data and presets."""
    return {
        "datasets": sources.as_json(),
        "presets": [preset.as_json() for preset in presets.values()],
    }


def scene(trial: Trial, preset: Preset | None) -> dict[str, Any]:
    """The trial without its neurons."""
    setup, source = trial.setup, trial.source
    about: dict[str, Any]
    if isinstance(source, Images):
        names = None if source.labels is None else enumerate(source.names)
        classes = names and [{"value": value, "name": name} for value, name in names]
        note = None if preset is None else preset.note
        about = {"patch": list(source.patch(setup)), "classes": classes, "note": note}
    else:
        about = {"domain": [*source.low, *source.high], "axes": source.axes, "note": source.note}
    return {
        "mode": trial.mode,
        "setup": setup.as_json(),
        "preset": None if preset is None else preset.name,
        "changed": preset is not None and (trial.journal.has_edits or not preset.is_of(setup)),
        "suggestion": _suggestion(trial),
        "data": source.text,
        "ranges": ranges(setup, trial),
        "painted": 0 if isinstance(source, Images) else source.added,
        **about,
    }


def _suggestion(trial: Trial) -> dict[str, float] | None:
    """The width that the width equation gives for patches of this size, at less inhibition."""
    if not isinstance(trial.source, Images):
        return None
    width = equivalent_width(trial.model.n_features_in_, LESS_INHIBITION)
    return {"sigma": float(f"{width:.2g}"), "lambda": LESS_INHIBITION}


def ranges(setup: Setup, trial: Trial) -> dict[str, list[float]]:
    """The ends of the sliders, all above 0: the scales are logarithmic, and the page adds 0 itself."""
    usual = default_setup(setup.data, trial.source)
    width, size = usual.width, 1
    if isinstance(trial.source, Images):
        size = trial.source.max_size()
        width *= max(1, setup.size**2 / usual.size**2)  # squared distances grow with the number of pixels
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


def neuron_label(neuron: int) -> str:
    """The label of a neuron.

    Examples
    --------
    >>> neuron_label(12)
    'μ₁₂'
    """
    return f"μ{str(neuron).translate(SUBSCRIPTS)}"


def describe_change(name: str, setup: Setup) -> str:
    """The text of a mark for a changed setting."""
    value = getattr(setup, SETTINGS[name][0])
    if name == "classes":
        return "all classes" if value is None else f"only {', '.join(map(str, value))}"
    text = f"{value:.4g}" if isinstance(value, float) else value
    return f"{SYMBOLS.get(name, name)} = {text}"


def require_near(trial: Trial, positions: Sequence[tuple[float, float]]) -> None:
    """Raise a ValueError if a position is far outside the domain."""
    source = trial.source
    if not isinstance(source, Points):
        raise ValueError("Positions are available in the plane only. Choose data with two columns first.")
    margin = MAX_DISTANCE * (source.high - source.low)
    for one in positions:
        if ((one < source.low - margin) | (one > source.high + margin)).any():
            raise ValueError(f"Position {one} is too far outside the domain.")
