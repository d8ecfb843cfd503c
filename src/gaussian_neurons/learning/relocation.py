"""Neurons that are moved to where samples need them [25]: the one way in to both twins."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gaussian_neurons.learning import native, reference_relocation
from gaussian_neurons.learning.neurons import Neurons
from gaussian_neurons.learning.responses import strongest

Array = NDArray[Any]
Indices = NDArray[np.int64]

# A change of neurons or of known groups has to gain this many times what the parameters of one cost: else
# it may only fit the recent rows better (docs/any-data.md).
MARGIN = 8.0
TWINS = {"reference": reference_relocation.relocate}  # every other backend uses the compiled one


def winners(neurons: Neurons, rows: Array, reach: float) -> Indices:
    """The neuron that wins each row, -1 if the row is out of reach."""
    winner, log_response = strongest(rows, neurons.centers, neurons.widths, shared=True)
    return np.where(-log_response <= reach, winner, -1)


def relocated(
    neurons: Neurons,
    groups: Indices,
    rows: Array,
    part: float,
    reach: float,
    least_width: float,
    least_part: float,
    backend: Any,
) -> tuple[Neurons, Indices]:
    """Neurons that share samples, some of them at other places; and the old index of each, or -1.

    A move has to gain MARGIN times what the parameters of a neuron cost: (D + 1) / 2 log n nats for n rows.

    Parameters
    ----------
    neurons : Neurons; each represents the samples that it won, `won`, one that rests those of before
    groups : (K,), the cluster of each neuron, -1 for none
    rows : (n, D), the latest samples
    part : of all samples in `won` that the rows are
    reach : largest |x - mu|^2 / sigma of a row that a neuron can win
    least_width : widths do not fall below it
    least_part : of the rows that has to be out of reach before a neuron is moved there
    backend : "reference", or anything else for the compiled twin
    """
    nearest, log_response = strongest(rows, neurons.centers, neurons.widths, shared=True)
    winner = np.where(-log_response <= reach, nearest, -1)
    background = rows.shape[1] / 2 * np.log(neurons.widths[nearest]) - log_response
    if (winner < 0).mean() < least_part:
        background = np.full(len(rows), -np.inf)  # outliers
    counts = neurons.won * part
    margin = MARGIN * (rows.shape[1] + 1) / 2 * float(np.log(len(rows)))
    before = neurons.centers.astype(np.float64), neurons.widths.astype(np.float64), counts
    relocate = TWINS.get(backend, native.relocate) if isinstance(backend, str) else native.relocate
    wide = np.ascontiguousarray(rows, np.float64)
    centers, widths, counts, origins = relocate(
        *before, groups, neurons.resting, wide, winner, background.astype(np.float64), margin
    )
    changed = (widths != before[1]) | (centers != before[0]).any(axis=1)
    moved = origins < 0
    after = neurons.with_rows(
        changed,
        centers=centers[changed],
        widths=np.maximum(widths[changed], least_width),
        total=counts[changed],
    )
    won, looked = np.rint(counts / part).astype(np.int64), neurons.looked.copy()
    for group in np.unique(groups[moved & (groups >= 0)]):  # what a cluster has won stays with it
        looked[np.argmax((groups == group) & ~moved)] += looked[(groups == group) & moved].sum()
    after = after.with_rows(slice(None), looked=np.where(moved, won, looked))
    after = after.with_rows(moved, born=neurons.seen, held=np.nan, rests=-1)
    return after.with_rows(changed, won=won[changed]), origins
