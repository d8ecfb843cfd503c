"""Closed forms of the paper: the width equation, the repulsion limit, the cost surface."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import brentq, minimize
from scipy.special import expi

from gaussian_neurons.learning.reference import sample_cost

Array = NDArray[np.float64]


class Layout(NamedTuple):
    """One side of the width equation: number of dimensions, width and inhibition."""

    dimensions: int  #: D
    width: float  #: sigma
    inhibition: float  #: lambda


SUBFIGURE_2D = Layout(dimensions=25, width=1.0, inhibition=1 / 9)


def equivalent_width(
    dimensions: int, inhibition: float, like: Layout = SUBFIGURE_2D, power: int = 2
) -> float:
    """The width at which two neurons in opposite corners repel each other as in another layout.

    Solves the paper's width equation [8] as printed, with 1/sigma^2, although Equation 1 gives 1/sigma:
    only this form reproduces the published widths. Of its two solutions, the one on the rising branch,
    sigma < D / power, is returned.

    Parameters
    ----------
    dimensions : D of the new layout
    inhibition : lambda of the new layout
    like : the layout to match; the paper uses that of Subfigure 2d
    power : the power of 1/sigma: 2 as printed, 1 as in Equation 1

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
            f"no width gives the same repulsion in {dimensions} dimensions with inhibition={inhibition:g}; "
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
    >>> log_repulsion([1.0, 12.5], dimensions=25, inhibition=1 / 9).round(2)  # Figure 2d, and the maximum
    array([-28.81, -10.86])
    """
    sigma = np.asarray(width, np.float64)
    logs: Array = np.log(inhibition) - np.log(dimensions) / 2 - power * np.log(sigma) - dimensions / sigma
    return logs


def repulsion_distance(time: ArrayLike, width: float, start: float) -> Array:
    """The distance of a neuron that a second neuron repels and no sample attracts.

    The paper's ordinary differential equation [7], d mu / dt = 2 mu / sigma exp(-mu^2 / sigma), at
    lambda = 1/2 and with the second neuron fixed at 0. With u = mu^2 / sigma it becomes
    exp(u) / u du = 4 / sigma dt, so Ei(u) = Ei(u_0) + 4 t / sigma, where Ei is the exponential
    integral. The distance grows as sqrt(sigma log t), without a limit.

    Parameters
    ----------
    time : t; n samples at learning rate eta correspond to t = n eta / 2
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
        if t == 0 or not np.isfinite(wanted):  # too far apart to move
            return first
        most = first + 1.0
        while expi(most) < wanted:
            most *= 2
        log = brentq(lambda v: expi(np.exp(v)) - wanted, np.log(first), np.log(most), xtol=1e-14)
        return float(np.exp(log))

    distances: Array = np.sqrt(width * np.vectorize(squared_at, otypes=[float])(times))
    return distances


def repulsion_limit(width: float, learning_rate: float, dtype: type = np.float32) -> float:
    """The distance at which rounding cancels the repulsion of two neurons, at lambda = 1/2.

    Beyond it, eta / sigma mu exp(-mu^2 / sigma) is below half a unit in the last place of mu. This ends the
    growth of `repulsion_distance` in practice.

    Examples
    --------
    >>> round(repulsion_limit(width=1.0, learning_rate=0.1), 1)
    3.9
    """
    if not (width > 0 and learning_rate > 0):
        raise ValueError(
            f"width and learning_rate must be positive, got width={width!r}, learning_rate={learning_rate!r}."
        )
    part = float(np.finfo(dtype).eps) / 2  # half a unit as a part of mu, for mu = 1
    for _ in range(3):  # a unit depends on mu, and mu little on the unit
        limit = float(np.sqrt(width * np.log(max(learning_rate / width / part, 1.0))))
        part = float(np.spacing(dtype(limit))) / 2 / limit if limit > 0 else part
    return limit


def cost_surface(
    first: ArrayLike, others: ArrayLike, sample: ArrayLike, widths: ArrayLike, inhibition: float
) -> Array:
    """The cost F as a function of the first neuron's center: the surface of Figure 1.

    Parameters
    ----------
    first : (..., D), centers of the first neuron
    others : (K - 1, D), centers of the other neurons
    sample : (D,)
    widths : a number, or (K,)
    inhibition : lambda

    Examples
    --------
    With a second neuron on the sample, the surface is flat:

    >>> cost_surface([[0.1, 0.2], [0.9, 0.4]], [[0.3, 0.7]], [0.3, 0.7], 0.2, 0.5).round(12)
    array([-1., -1.])
    """
    centers = np.asarray(first, np.float64)
    rest = np.atleast_2d(np.asarray(others, np.float64))
    x = np.asarray(sample, np.float64)
    sigma = np.broadcast_to(np.asarray(widths, np.float64), (1 + len(rest),))

    def cost_at(center: Array) -> float:
        return sample_cost(x, np.vstack([center, rest]), sigma, inhibition)

    return np.apply_along_axis(cost_at, -1, centers)


def cost_minimum(others: ArrayLike, sample: ArrayLike, widths: ArrayLike, inhibition: float) -> Array:
    """The center of the first neuron at the minimum of `cost_surface`, (D,).

    Examples
    --------
    The minimum of Figure 1:

    >>> cost_minimum([[0.7, 0.3]], [0.3, 0.7], widths=0.2, inhibition=0.5).round(2)
    array([0.24, 0.76])
    """
    found = minimize(
        lambda center: cost_surface(center, others, sample, widths, inhibition).item(),
        np.asarray(sample, np.float64).ravel(),
        method="BFGS",
        tol=1e-10,
    )
    return np.asarray(found.x)
