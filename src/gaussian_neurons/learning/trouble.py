"""What both twins say when learning cannot go on."""

from gaussian_neurons.state import Neurons


def diverged(row: int, neuron: int, neurons: Neurons, learning_rate: float) -> FloatingPointError:
    """The error of a center or width that stopped being finite."""
    smallest = float(neurons.start_widths.min())
    return FloatingPointError(
        f"neuron {neuron} stopped being finite at sample {row}: learning_rate={learning_rate:g} is too "
        f"large for a width of {smallest:g}. A step is learning_rate / width times the distance; "
        f"lower learning_rate to about {0.1 * smallest:g} or raise the width. Nothing was changed."
    )
