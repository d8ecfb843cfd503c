"""What a sweep found: the number of clusters over widths and inhibitions, and where it agrees."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from gaussian_neurons.estimator import GaussianNeurons

Array = NDArray[Any]
Counts = NDArray[np.int64]

FAILED = -1  # in place of a number of clusters


@dataclass(frozen=True)
class Failure:
    """A model that could not be learned, and why."""

    width: float
    inhibition: float
    seed: int
    reason: str


@dataclass(frozen=True, eq=False)
class Plateau:
    """A region of the map in which the number of clusters agrees."""

    n_clusters: int
    width: float  # in its middle
    inhibition: float
    seed: int  # the first that found this number there
    agreement: float  # part of the runs in the region that found this number
    cells: NDArray[np.bool_]  # (W, L) which cells belong to it

    def __str__(self) -> str:
        return f"{self.n_clusters} clusters around width {self.width:.4g} and inhibition {self.inhibition:g}"


@dataclass(frozen=True, eq=False, repr=False)
class Sweep:
    """How many clusters were found for each width, inhibition and seed: see `sweeping.sweep`."""

    widths: Array  # (W,) rising
    inhibitions: Array  # (L,) rising
    seeds: tuple[int, ...]  # S of them
    n_clusters: Counts  # (W, L, S), -1 where learning failed
    mean_response: Array  # (W, L, S) of clusters to those of the last samples that they win; NaN: failed
    failures: tuple[Failure, ...]
    n_samples: int | None  # as it was given
    parameters: Mapping[str, Any]  # what else each model was told

    def __repr__(self) -> str:
        failed = f", {len(self.failures)} failed" if self.failures else ""
        return (
            f"Sweep({len(self.widths)} widths from {self.widths[0]:.4g} to {self.widths[-1]:.4g}, "
            f"{len(self.inhibitions)} inhibitions, {len(self.seeds)} seeds{failed}: "
            f"{self.plateau() or 'no plateau'})"
        )

    @property
    def typical(self) -> Counts:
        """The median over the seeds that did not fail, (W, L): of two in the middle the lower one."""
        ranked = np.sort(self.n_clusters, axis=2)
        failed = (ranked == FAILED).sum(axis=2)  # they rank first
        middle = np.minimum((failed + len(self.seeds) - 1) // 2, len(self.seeds) - 1)
        median: Counts = np.take_along_axis(ranked, middle[:, :, None], axis=2)[:, :, 0]
        return median

    @property
    def spread(self) -> Counts:
        """The most clusters that a seed found less the fewest, (W, L); failures do not count."""
        fewest = np.where(self.n_clusters == FAILED, np.iinfo(np.int64).max, self.n_clusters).min(axis=2)
        apart: Counts = np.maximum(self.n_clusters.max(axis=2) - fewest, 0)
        return apart

    def plateau(self) -> Plateau | None:
        """The largest region of the map in which the number of clusters agrees.

        A region is made of neighbouring cells (width, inhibition) with the same median over the seeds, and is
        as large as the number of runs in it that found just that. Those with no cluster, with one, or with as
        many as there are neurons are left out, since any data has them: None where no other is left. Its
        middle is the cell of it that lies nearest to the mean of its cells.
        """
        counts = self.typical
        agrees = (self.n_clusters == counts[:, :, None]).sum(axis=2)  # (W, L) runs
        best, most = None, 0
        for count in np.unique(counts):
            if count in (FAILED, 0, 1, self.parameters["n_neurons"]):
                continue
            labels, regions = ndimage.label(counts == count)
            for label in range(1, regions + 1):
                runs = int(agrees[labels == label].sum())
                if runs > most:
                    best, most = labels == label, runs
        if best is None:
            return None
        places = np.argwhere(best)
        off = ((places - places.mean(axis=0)) ** 2).sum(axis=1)
        w, k = min(zip(off.round(9), -agrees[best], places.tolist(), strict=True))[2]
        seed = self.seeds[int(np.argmax(self.n_clusters[w, k] == counts[w, k]))]
        agreement = most / (len(self.seeds) * len(places))
        middle = (float(self.widths[w]), float(self.inhibitions[k]))
        return Plateau(int(counts[w, k]), *middle, seed, agreement, best)

    def model(
        self, width: float | None = None, inhibition: float | None = None, seed: int | None = None
    ) -> GaussianNeurons:
        """One of the models as it began; what is not said is taken from the middle of the plateau.

        It has learned nothing yet. `fit(X)` with the same rows, or `learn(stream, n_samples)` with the same
        stream at the same place, makes it what it was, bit for bit.
        """
        if width is None or inhibition is None or seed is None:
            found = self.plateau()
            if found is None:
                raise ValueError("there is no plateau to take a model from: give width, inhibition and seed.")
            width = found.width if width is None else width
            inhibition = found.inhibition if inhibition is None else inhibition
            seed = found.seed if seed is None else seed
        return model_of(self.parameters, self.n_samples, width, inhibition, seed)

    def to_dict(self) -> dict[str, Any]:
        """Everything as JSON has it, with the plateau."""
        found = self.plateau()
        responses = self.mean_response.astype(object)
        responses[np.isnan(self.mean_response)] = None
        return {
            "widths": self.widths.tolist(),
            "inhibitions": self.inhibitions.tolist(),
            "seeds": list(self.seeds),
            "n_clusters": self.n_clusters.tolist(),
            "mean_response": responses.tolist(),
            "failures": [vars(failure).copy() for failure in self.failures],
            "n_samples": self.n_samples,
            "parameters": _plain(dict(self.parameters)),
            "plateau": None
            if found is None
            else {name: _plain(value) for name, value in vars(found).items()},
        }

    @classmethod
    def from_dict(cls, told: Mapping[str, Any]) -> "Sweep":
        """What `to_dict` told, to look at it again."""
        return cls(
            widths=np.array(told["widths"], np.float64),
            inhibitions=np.array(told["inhibitions"], np.float64),
            seeds=tuple(told["seeds"]),
            n_clusters=np.array(told["n_clusters"], np.int64),
            mean_response=np.array(told["mean_response"], np.float64),
            failures=tuple(Failure(**failure) for failure in told["failures"]),
            n_samples=told["n_samples"],
            parameters=dict(told["parameters"]),
        )


def model_of(
    parameters: Mapping[str, Any], n_samples: int | None, width: float, inhibition: float, seed: int
) -> GaussianNeurons:
    """A model of a sweep before it learns."""
    draws = "auto" if n_samples is None else n_samples
    return GaussianNeurons(
        **parameters, width=width, inhibition=inhibition, max_samples=draws, random_state=seed
    )


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, dict):
        return {name: _plain(part) for name, part in value.items()}
    return [_plain(part) for part in value] if isinstance(value, tuple | list) else value
