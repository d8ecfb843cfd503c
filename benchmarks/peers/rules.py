"""Implementations of the rule with several tools, one sample at a time; and the rule of Krotov and Hopfield.

Our rule is Equation 5 of docs/algorithm.md, with one width for all neurons. With f_ij = f_j(mu_i), the sum
over j of f_ij (mu_j - mu_i) is (f mu)_i - (sum_j f_ij) mu_i, a matrix product. Packages are imported on
demand.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


@dataclass(frozen=True)
class Rule:
    """The numbers of the rule."""

    width: float
    inhibition: float
    learning_rate: float


def numpy_broadcast(rows: Array, centers: Array, rule: Rule) -> None:
    """The differences of all pairs in one array, (K, K, D): the equation as printed."""
    pull = rule.learning_rate / rule.width
    push = 2 * rule.inhibition * pull
    for x in rows:
        away = x - centers
        response = np.exp(-(away**2).sum(axis=1) / rule.width)
        toward = centers[None, :, :] - centers[:, None, :]
        pairs = np.exp(-(toward**2).sum(axis=2) / rule.width)
        centers += pull * response[:, None] * away - push * (pairs[:, :, None] * toward).sum(axis=1)


def numpy_products(rows: Array, centers: Array, rule: Rule) -> None:
    """Distances and sums as matrix products: no array is larger than K x K or K x D."""
    pull = rule.learning_rate / rule.width
    push = 2 * rule.inhibition * pull
    for x in rows:
        away = x - centers
        response = np.exp(np.einsum("ij,ij->i", away, away) / -rule.width)
        squares = np.einsum("ij,ij->i", centers, centers)
        pairs = centers @ centers.T
        pairs *= 2 / rule.width
        pairs -= (squares / rule.width)[:, None]
        pairs -= squares / rule.width
        np.exp(pairs, out=pairs)
        repulsion = pairs @ centers - pairs.sum(axis=1)[:, None] * centers
        centers += (pull * response)[:, None] * away - push * repulsion


def numba_kernel() -> Callable[[Array, Array, Rule], None]:
    """Plain loops, each pair once, compiled on the first call, in float32."""
    import numba

    @numba.njit(fastmath=True, error_model="numpy", boundscheck=False)
    def learn(rows, centers, steps, width, pull, push):  # type: ignore[no-untyped-def]
        neurons, columns = centers.shape
        for t in range(rows.shape[0]):
            for i in range(neurons):
                distance = np.float32(0)
                for d in range(columns):
                    away = rows[t, d] - centers[i, d]
                    distance += away * away
                response = pull * np.exp(-distance / width)
                for d in range(columns):
                    steps[i, d] = response * (rows[t, d] - centers[i, d])
            for i in range(neurons):
                for j in range(i):
                    distance = np.float32(0)
                    for d in range(columns):
                        toward = centers[j, d] - centers[i, d]
                        distance += toward * toward
                    response = push * np.exp(-distance / width)
                    for d in range(columns):
                        move = response * (centers[j, d] - centers[i, d])
                        steps[i, d] -= move
                        steps[j, d] += move
            for i in range(neurons):
                for d in range(columns):
                    centers[i, d] += steps[i, d]

    def call(rows: Array, centers: Array, rule: Rule) -> None:
        pull = rule.learning_rate / rule.width
        numbers = (np.float32(each) for each in (rule.width, pull, 2 * rule.inhibition * pull))
        learn(rows, centers, np.empty_like(centers), *numbers)

    return call


def torch_steps(rows: Any, centers: Any, rule: Rule) -> None:
    """PyTorch without gradients, float32: rows and centers are tensors, centers change in place."""
    import torch

    pull = rule.learning_rate / rule.width
    push = 2 * rule.inhibition * pull
    with torch.inference_mode():
        for x in rows:
            away = x - centers
            response = (away.square().sum(1, keepdim=True) / -rule.width).exp_()
            squares = centers.square().sum(1) / rule.width
            bias = squares[:, None] + squares
            pairs = torch.addmm(bias, centers, centers.T, beta=-1.0, alpha=2 / rule.width).exp_()
            repulsion = torch.addmm(centers * pairs.sum(1, keepdim=True), pairs, centers, beta=-1.0)
            centers.addcmul_(response, away, value=pull).sub_(repulsion, alpha=push)


def jax_scan() -> Callable[[Any, Any, Rule], Any]:
    """`lax.scan` over the rows of a call, compiled for each number of rows; returns the new centers."""
    import jax
    import jax.numpy as jnp

    def step(centers: Any, x: Any, width: float, pull: float, push: float) -> tuple[Any, None]:
        away = x - centers
        response = jnp.exp(-(away**2).sum(1) / width)
        squares = (centers**2).sum(1)
        pairs = jnp.exp((2 * centers @ centers.T - squares[:, None] - squares) / width)
        repulsion = pairs @ centers - pairs.sum(1)[:, None] * centers
        return centers + pull * response[:, None] * away - push * repulsion, None

    @partial(jax.jit, static_argnums=(2, 3, 4))
    def learn(rows: Any, centers: Any, width: float, pull: float, push: float) -> Any:
        return jax.lax.scan(partial(step, width=width, pull=pull, push=push), centers, rows)[0]

    def call(rows: Any, centers: Any, rule: Rule) -> Any:
        pull = rule.learning_rate / rule.width
        return learn(rows, centers, rule.width, pull, 2 * rule.inhibition * pull).block_until_ready()

    return call


@dataclass(frozen=True)
class Competition:
    """The parameters of the rule of Krotov and Hopfield (PNAS 2019) for MNIST."""

    p: float = 2.0  # of the Lebesgue norm
    rank: int = 2  # the unit with the rank-th largest current unlearns
    strength: float = 0.4  # Delta, of unlearning
    learning_rate: float = 0.02  # the largest change of a weight


def currents(x: Array, weights: Array, p: float) -> Array:
    """The input currents of the hidden units, I_mu = sum_i sgn(W_mu,i) |W_mu,i|^(p - 1) x_i."""
    if p == 2:
        return weights @ x
    return (np.sign(weights) * np.abs(weights) ** (p - 1)) @ x


def krotov_hopfield(rows: Array, weights: Array, rule: Competition) -> None:
    """Learn one row at a time: the strongest unit learns, the unit of a given rank unlearns.

    The change of unit mu is g_mu (x - I_mu W_mu), with g = 1 for the strongest unit and minus the strength
    for that rank (radius R = 1). All changes are scaled so that the largest is the learning rate.
    """
    second = len(weights) - rule.rank
    for x in rows:
        current = currents(x, weights, rule.p)
        order = np.argpartition(current, (second, len(weights) - 1))
        best, other = order[-1], order[second]
        learned = x - current[best] * weights[best]
        unlearned = -rule.strength * (x - current[other] * weights[other])
        largest = max(np.abs(learned).max(), np.abs(unlearned).max())
        scale = rule.learning_rate / max(largest, 1e-30)
        weights[best] += scale * learned
        weights[other] += scale * unlearned
