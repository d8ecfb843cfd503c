"""The closed forms of the paper: the width equation, the repulsion limit, the cost surface."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import brentq, minimize
from scipy.special import expi

from gaussian_neurons.learning.reference import sample_cost

Array = NDArray[np.float64]


class Layout(NamedTuple):
    """What the width equation compares: a dimension, a width and an inhibition."""

    dimensions: int  # D
    width: float  # sigma
    inhibition: float  # lambda


SUBFIGURE_2D = Layout(dimensions=25, width=1.0, inhibition=1 / 9)


def equivalent_width(
    dimensions: int, inhibition: float, like: Layout = SUBFIGURE_2D, power: int = 2
) -> float:
    """The width at which two neurons in opposite corners repel as those of another layout do.

    Solves the paper's width equation [8] as it is printed, with 1/sigma^2 where Equation 1 would give
    1/sigma: only so do the published widths come out. Of its two solutions, the one on the rising
    branch, sigma < D / power, is meant.

    Parameters
    ----------
    dimensions : D of the new layout
    inhibition : lambda of the new layout
    like : the layout to be matched; the paper's is that of Subfigure 2d
    power : of 1/sigma: 2 as printed, 1 as Equation 1 has it

    Examples
    --------
    >>> round(equivalent_width(9 * 9, inhibition=0.015), 2)
    4.14
    >>> round(equivalent_width(13 * 13, inhibition=0.01), 2)
    9.91
    """
    for name, value in (
        ("dimensions", dimensions),
        ("inhibition", inhibition),
        *like._asdict().items(),
    ):
        if not value > 0:
            raise ValueError(f"{name} must be positive, got {value!r}.")
    wanted = log_repulsion(like.width, like.dimensions, like.inhibition, power)
    largest = dimensions / power
    if log_repulsion(largest, dimensions, inhibition, power) < wanted:
        raise ValueError(
            f"no width repels as much in {dimensions} dimensions with inhibition={inhibition:g}; "
            f"raise the inhibition."
        )
    smallest = largest
    while log_repulsion(smallest, dimensions, inhibition, power) >= wanted:
        smallest /= 2
    found = brentq(
        lambda width: log_repulsion(width, dimensions, inhibition, power) - wanted,
        smallest,
        largest,
        xtol=1e-12,
    )
    return float(found)


def log_repulsion(width: ArrayLike, dimensions: int, inhibition: float, power: int = 2) -> Array:
    """Log of one side of the width equation [8]: lambda / (sqrt(D) sigma^power) exp(-D / sigma).

    Examples
    --------
    >>> log_repulsion([1.0, 12.5], dimensions=25, inhibition=1 / 9).round(2)  # Figure 2d's, and the most
    array([-28.81, -10.86])
    """
    sigma = np.asarray(width, np.float64)
    logs: Array = np.log(inhibition) - np.log(dimensions) / 2 - power * np.log(sigma) - dimensions / sigma
    return logs


def repulsion_distance(time: ArrayLike, width: float, start: float) -> Array:
    """How far a neuron is driven off a second one when no sample holds it.

    The paper's ordinary differential equation [7], d mu / dt = 2 mu / sigma exp(-mu^2 / sigma), at
    lambda = 1/2 and with the second neuron fixed at 0. With u = mu^2 / sigma it becomes
    exp(u) / u du = 4 / sigma dt, so Ei(u) = Ei(u_0) + 4 t / sigma, where Ei is the exponential
    integral. There is no finite limit: the distance grows as sqrt(sigma log t).

    Parameters
    ----------
    time : t; n samples at rate eta are t = n eta / 2
    width : sigma
    start : mu(0), the distance at time 0

    Examples
    --------
    >>> repulsion_distance([0.0, 1e3, 1e6, 1e9], width=1.0, start=0.5).round(2)
    array([0.5 , 3.25, 4.25, 5.03])
    """
    if not (width > 0 and start > 0):
        raise ValueError(f"width and start must be positive, got width={width!r}, start={start!r}.")
    times = np.asarray(time, np.float64)
    if not (times >= 0).all():
        raise ValueError("time must not be negative.")
    first = start**2 / width

    def squared_at(t: float) -> float:
        wanted = expi(first) + 4 * t / width
        if t == 0 or not np.isfinite(wanted):  # so far apart that nothing moves
            return first
        most = first + 1.0
        while expi(most) < wanted:
            most *= 2
        log = brentq(lambda v: expi(np.exp(v)) - wanted, np.log(first), np.log(most), xtol=1e-14)
        return float(np.exp(log))

    distances: Array = np.sqrt(width * np.vectorize(squared_at, otypes=[float])(times))
    return distances


def repulsion_limit(width: float, learning_rate: float, dtype: type = np.float32) -> float:
    """The distance at which a push between two neurons is lost to rounding, at lambda = 1/2.

    Where eta / sigma mu exp(-mu^2 / sigma) falls below half a unit in the last place of mu: what ends
    the growth of `repulsion_distance` in practice.

    Examples
    --------
    >>> round(repulsion_limit(width=1.0, learning_rate=0.1), 1)
    3.8
    """
    if not (width > 0 and learning_rate > 0):
        raise ValueError(
            f"width and learning_rate must be positive, got width={width!r}, learning_rate={learning_rate!r}."
        )
    half_a_unit = float(np.finfo(dtype).eps) / 2
    return float(np.sqrt(width * np.log(max(learning_rate / width / half_a_unit, 1.0))))


def cost_surface(
    first: ArrayLike, others: ArrayLike, sample: ArrayLike, widths: ArrayLike, inhibition: float
) -> Array:
    """F as a function of where the first neuron sits: the surface of Figure 1.

    Parameters
    ----------
    first : (..., D), places for the first neuron
    others : (K - 1, D), where the other neurons sit
    sample : (D,)
    widths : a number, or (K,)
    inhibition : lambda

    Examples
    --------
    A second neuron on the sample leaves nothing to gain or to lose:

    >>> cost_surface([[0.1, 0.2], [0.9, 0.4]], [[0.3, 0.7]], [0.3, 0.7], 0.2, 0.5).round(12)
    array([-1., -1.])
    """
    places = np.asarray(first, np.float64)
    rest = np.atleast_2d(np.asarray(others, np.float64))
    x = np.asarray(sample, np.float64)
    sigma = np.broadcast_to(np.asarray(widths, np.float64), (1 + len(rest),))

    def cost_at(place: Array) -> float:
        return sample_cost(x, np.vstack([place, rest]), sigma, inhibition)

    return np.apply_along_axis(cost_at, -1, places)


def cost_minimum(others: ArrayLike, sample: ArrayLike, widths: ArrayLike, inhibition: float) -> Array:
    """Where the first neuron would rest for one sample: the lowest point of `cost_surface`, (D,).

    Examples
    --------
    Figure 1's:

    >>> cost_minimum([[0.7, 0.3]], [0.3, 0.7], widths=0.2, inhibition=0.5).round(2)
    array([0.24, 0.76])
    """
    found = minimize(
        lambda place: cost_surface(place, others, sample, widths, inhibition).item(),
        np.asarray(sample, np.float64).ravel(),
        method="BFGS",
        tol=1e-10,
    )
    return np.asarray(found.x)
