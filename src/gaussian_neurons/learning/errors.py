"""What both twins say when learning cannot go on."""

import numpy as np

from gaussian_neurons.base.bad_rows import BadRow
from gaussian_neurons.learning.neurons import Neurons


def diverged(neurons: Neurons, neuron: int, learning_rate: float) -> FloatingPointError:
    """The error of a center or width that stopped being finite, at the sample not yet counted."""
    widths = neurons.widths[np.isfinite(neurons.widths)]
    smallest = float(min(neurons.start_widths.min(), widths.min(initial=np.inf)))
    return FloatingPointError(
        f"neuron {neuron} stopped being finite at sample {neurons.seen[0]} of the stream: "
        f"learning_rate={learning_rate:g} is too large for a width of {smallest:g}. "
        f"A step is learning_rate / width times the distance; "
        f"lower learning_rate to about {0.1 * smallest:g} or raise the width. Nothing was changed."
    )


def not_finite(row: int, column: int, value: float, precision: str) -> BadRow:
    """The error of a value that is no number, or none in the model's precision."""
    if np.isfinite(value):
        return BadRow(
            row,
            f"X holds {value!r} at row {{row}}, column {column}, which becomes infinity (inf) in the "
            f"model's {precision}. Scale the data, or start the model with float64 samples.",
        )
    return BadRow(
        row,
        f"X must hold finite numbers, got {'NaN' if np.isnan(value) else 'infinity (inf)'} at row {{row}}, "
        f"column {column}. Drop or fill such rows first.",
    )
