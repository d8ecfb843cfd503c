"""One trial: neurons from their start, the samples that they learn from, and the user's changes."""

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gaussian_neurons import GaussianNeurons
from gaussian_neurons.base.covariances import as_type, mean_widths
from gaussian_neurons.clustering.diagnosis import SHARE
from gaussian_neurons.learning import reference_shaped, reference_shares
from gaussian_neurons.learning.reference import center_step
from gaussian_neurons.learning.responses import responses
from gaussian_neurons.live import script
from gaussian_neurons.live.frames import pixels
from gaussian_neurons.live.removed import RemovedPatterns
from gaussian_neurons.live.setup import MAX_NEURONS, Setup
from gaussian_neurons.live.sources import Images, Points, Source
from gaussian_neurons.sampling.ahead import Feed

Array = NDArray[Any]

STRONGEST = 6  # samples that are shown for an inspected neuron
MIN_SAMPLES = 10  # for each neuron: with fewer, none counts as learned
ENOUGH = 2000  # points that decide which neurons learned from noise alone
NEWEST = {"image": 24, "plane": 200}  # samples in a frame
MAX_COVARIANCES = 1 << 19  # numbers in the covariances of all neurons, so that frames are not slow


class Trial:
    """Neurons that learn from a source with the settings of a setup.

    Neurons are numbered from 1. They keep their numbers when others are removed.
    """

    def __init__(self, setup: Setup, source: Source) -> None:
        self.setup, self.source = setup, source
        self._are_images = isinstance(source, Images)
        self._domain: Any = (0.0, 1.0) if isinstance(source, Images) else (source.low, source.high)
        self.model = GaussianNeurons(**script.model_parameters(setup, source))
        self.sample = 0  # number of the next sample in the stream
        self._stream = source.stream(setup)
        dimensions = self._stream.n_features or 0
        self._require_room(setup.n_neurons, dimensions)
        if not self.shares:
            self.model.place_neurons(dimensions, script.precision(source))
        self._feed: Feed | None = None  # made when it is needed
        self.ids = list(range(1, setup.n_neurons + 1))  # number of each neuron, (K,)
        self.last_id = setup.n_neurons
        self.held: dict[int, tuple[float, float]] = {}  # number of a dragged neuron → its center
        self._learned_while_held = False
        self.newest = np.zeros((0, dimensions))  # samples
        self._removed = RemovedPatterns(self._are_images)
        self.journal = script.Journal(setup, source)
        self._tree: tuple[Any, dict[str, Array]] = (None, {})  # the diagnosis of a look, and its clusters
        if self.shares:
            self._require_plane()
            self.learn(1)  # such neurons start on samples

    def __copy__(self) -> "Trial":
        """The trial as it is now. Both can learn on, independently of each other."""
        other = object.__new__(Trial)
        vars(other).update(vars(self), _feed=None, held=dict(self.held))
        for name in ("model", "_removed", "journal"):
            setattr(other, name, copy(getattr(self, name)))
        return other

    def close(self) -> None:
        """Stop the thread that draws samples, until more are needed."""
        if self._feed is not None:
            self._feed.close()
        self._feed = None

    @property
    def feed(self) -> Feed:
        """The samples that come next."""
        if self._feed is None:
            self._feed = Feed(self._stream, self.sample)
        return self._feed

    @property
    def seen(self) -> int:
        """Samples learned."""
        return self.model.n_samples_seen_

    @property
    def shares(self) -> bool:
        """Whether neurons share samples and find their own widths."""
        return self.setup.clusters is not None

    @property
    def mode(self) -> str:
        """The mode of the page: image or plane."""
        return "image" if self._are_images else "plane"

    # ---- learning ---------------------------------------------------------------------------------

    def learn(self, most: int) -> int:
        """Learn from at most `most` of the next samples, and return their number."""
        try:
            chunk = self.feed.take(most)
            self.model.partial_fit(chunk.x, sample_width=chunk.widths)
        except Exception:
            self.close()  # the next samples are drawn again: none of these was learned
            raise
        self.sample += chunk.taken
        count = NEWEST[self.mode]
        self.newest = np.concatenate([self.newest, chunk.x[-count:]])[-count:]
        if self.held:
            self._place_held()
            self._learned_while_held = True
        return len(chunk.x)

    def _place_held(self) -> None:
        indices = [self.index(neuron) for neuron in self.held]
        self.model.move_neurons(indices, centers=list(self.held.values()))

    # ---- changes ----------------------------------------------------------------------------------

    def index(self, neuron: int) -> int:
        """The index of the neuron with that number."""
        if neuron not in self.ids:
            raise ValueError(f"There is no neuron {neuron}. It may have been removed.")
        return self.ids.index(neuron)

    def remove(self, neurons: Sequence[int]) -> None:
        """Remove neurons by their numbers."""
        indices = [self.index(neuron) for neuron in neurons]
        if len(indices) >= len(self.ids):
            raise ValueError("The last neuron cannot be removed.")
        self.release([neuron for neuron in neurons if neuron in self.held])
        centers, widths = self.model.centers_, self.model.widths_
        removed = [(self.ids[k], centers[k].copy(), widths[k].copy()) for k in indices if self.learned[k]]
        self.model.remove_neurons(indices)
        self.ids = [neuron for neuron in self.ids if neuron not in neurons]
        for one in removed:
            self._removed.add(*one, self.model.centers_, self.learned)
        self.journal.record(self.seen, f"model.remove_neurons({indices})")

    def add(self, count: int, at: tuple[float, float] | None) -> None:
        """Add neurons at random centers, or one at a given center."""
        if len(self.ids) + count > MAX_NEURONS:
            raise ValueError(f"At most {MAX_NEURONS} neurons are possible, and there are {len(self.ids)}.")
        self._require_room(len(self.ids) + count, self.model.n_features_in_)
        if at is not None:
            self._require_plane()
        width = None if self.shares else self.setup.width
        centers = f"{count}" if at is None else f"centers=[{list(at)}]"
        if at is None:
            self.model.add_neurons(count, width=width)
        else:
            self.model.add_neurons(centers=[list(at)], width=width)
        self.ids = [*self.ids, *range(self.last_id + 1, self.last_id + count + 1)]
        self.last_id += count
        self.journal.record(self.seen, f"model.add_neurons({centers}, width={width!r})")

    def hold(self, neuron: int, center: tuple[float, float]) -> None:
        """Move a neuron and keep it there until it is released."""
        self._require_plane()
        self.index(neuron)
        self.held[neuron] = center
        self._place_held()

    def release(self, neurons: Sequence[int]) -> None:
        """Release held neurons: they learn again."""
        for neuron in neurons:
            if neuron in self.held:
                self.journal.record(self.seen, script.move_line(self.index(neuron), self.held.pop(neuron)))
        if self._learned_while_held and not self.held:
            self.journal.record(
                self.seen, "# up to here neurons were held while others learned: not reproduced"
            )
            self._learned_while_held = False

    def change(self, name: str, setup: Setup) -> None:
        """Change one setting to its value in `setup`."""
        before, self.setup = self.setup, setup
        try:
            if name in CHANGES:
                CHANGES[name](self, before)
        except Exception:
            self.setup = before
            raise

    def paint(self, points: Array) -> None:
        """Add points to the data."""
        self._change_points(lambda source: source.with_points(points))

    def add_noise(self, count: int) -> None:
        """Add points that are uniform in the domain."""
        self._change_points(lambda source: source.with_noise(count, self.setup.seed))

    def unpaint(self) -> None:
        """Remove all added points. Neurons that the other points do not hold have learned nothing."""
        self._change_points(Points.without_added)
        for k in np.flatnonzero(self.model.learned_ & ~self._held_by(self._require_plane().points)).tolist():
            beside = np.nextafter(self.model.centers_[k], np.inf).tolist()  # a neuron that is moved is new
            self.model.move_neurons([k], centers=[beside])
            self.journal.record(self.seen, script.move_line(k, beside))

    def _held_by(self, points: Array) -> NDArray[np.bool_]:
        """Which neurons win enough of some points, (K,)."""
        winner = self.model.transform(points).argmax(axis=1)
        held: NDArray[np.bool_] = np.bincount(winner, minlength=len(self.ids)) >= SHARE * len(winner)
        return held

    def _change_points(self, change: Callable[[Points], Points]) -> None:
        before = self._require_plane()
        self.source = after = change(before)
        new_lines = after.added_code[len(before.added_code) :]
        for line in new_lines or (f"points = points[:{len(after.points)}]",):
            self.journal.record(self.seen, line)
        self._change_samples(self.setup)

    def _require_plane(self) -> Points:
        if not isinstance(self.source, Points):
            raise ValueError("This is possible in the plane only. Choose data with two columns first.")
        return self.source

    def _require_room(self, neurons: int, dimensions: int) -> None:
        """Raise a ValueError if full covariances of so many neurons would make the page slow."""
        if self.setup.covariance_type == "full" and neurons * dimensions**2 > MAX_COVARIANCES:
            raise ValueError(
                f"{neurons} full covariances of {dimensions} × {dimensions} numbers are too many: at most "
                f"{MAX_COVARIANCES:,} numbers are possible. Use fewer neurons, a smaller patch size, or diag."
            )

    def _change_count(self, before: Setup) -> None:
        more = self.setup.n_neurons - len(self.ids)
        if more > 0:
            self.add(more, None)
        elif more < 0:  # first those that learned nothing, the newest of them first
            learned = self.learned
            order = sorted(range(len(self.ids)), key=lambda k: (bool(learned[k]), -k))
            self.remove([self.ids[k] for k in sorted(order[:-more])])

    def _change_width(self, before: Setup) -> None:
        width = self.setup.width
        self.model.move_neurons(range(len(self.ids)), width=width)
        self.model.set_params(width=width)
        moved = f"move_neurons(range({len(self.ids)}), width={width!r})"
        self.journal.record(self.seen, f"model.set_params(width={width!r}).{moved}")

    def _change_rate_of_widths(self, before: Setup) -> None:
        if (before.width_learning_rate > 0) != (self.setup.width_learning_rate > 0):
            self._change_samples(before)  # samples with widths, or without
        self._change_parameter("width_learning_rate")

    def _change_parameter(self, name: str) -> None:
        value = getattr(self.setup, name)
        self.model.set_params(**{name: value})
        self.journal.record(self.seen, f"model.set_params({name}={value!r})")

    def _change_samples(self, before: Setup) -> None:
        """Draw samples with the current settings, from the same sample number."""
        self._stream = self.source.stream(self.setup)
        self.close()
        self.journal.record(self.seen, script.stream_line(self.setup, self.source, self.sample))

    def with_added(self, source: Source) -> Source:
        """Another source with the points that were added to this one."""
        own = self.source
        if not isinstance(source, Points) or not isinstance(own, Points) or not own.added:
            return source
        added = source.with_points(own.points[-own.added :])
        return replace(added, added_code=own.added_code, noise=own.noise)

    # ---- state ------------------------------------------------------------------------------------

    @property
    def learned(self) -> NDArray[np.bool_]:
        """Which neurons have learned, (K,): none with few samples, none from dropped noise alone."""
        if self.shares:
            return self.model.neuron_clusters_ >= 0
        learned = self.model.learned_
        if isinstance(self.source, Points) and self.source.noise:
            kept = self.source.without_noise
            learned = learned & self._held_by(kept[:: -(-len(kept) // ENOUGH)])
        return learned if self.seen >= MIN_SAMPLES * len(learned) else np.zeros_like(learned)

    def relearned(self) -> list[tuple[int, int, Array]]:
        """Removed neurons, each once, the neuron that has learned the pattern since, and the old center."""
        found = self._removed.relearned(self.model.centers_, self.learned)
        return [(old, self.ids[k], center) for old, k, center in found]

    def facts(self) -> dict[str, Any]:
        """Numbers about the current state."""
        recent = self.model.recent_samples_
        cost = None if self.shares or not len(recent) else self.model.cost(recent) / len(recent)
        moved = np.linalg.norm(self.model.centers_ - self.model.initial_centers_, axis=1).mean()
        return {
            "seen": self.seen,
            "learned": self.model.n_clusters_ if self.shares else int(self.learned.sum()),
            "cost": cost if cost is not None and np.isfinite(cost) else None,
            "moved": float(moved) if np.isfinite(moved) else None,
        }

    def arrays(self) -> dict[str, Array]:
        """The neurons and the newest samples, for a frame."""
        found, shown = self.model.diagnosis_, self._shown
        centers, (low, high) = self.model.centers_, self._domain
        outside: Array = ((centers < low) | (centers > high)).any(axis=1)
        learned = self.learned
        twin = (found.twin_of >= 0) & learned[found.twin_of]
        return {
            "ids": np.array(self.ids, np.int32),
            "centers": shown(centers),
            "widths": mean_widths(self.model.widths_).astype(np.float32),
            **({} if self._are_images else {"covariances": self._covariances}),
            **(self._clusters if self.shares else {}),
            "learned": np.where(twin, 2, learned).astype(np.uint8),
            "outside": outside.astype(np.uint8),
            "distance": _finite(found.domain_distance),
            "cosine": _finite(found.cosine),
            "share": found.share.astype(np.float32),
            "response": found.mean_response.astype(np.float32),
            "samples": shown(self.newest),
        }

    @property
    def _covariances(self) -> Array:
        """The covariances in the plane, (K, 3): variance of x, covariance, variance of y."""
        return as_type(self.model.widths_, "full", 2)[:, [0, 0, 1], [0, 1, 1]].astype(np.float64)

    @property
    def _clusters(self) -> dict[str, Array]:
        """The cluster of each neuron, pairs of joined neurons, and the score of each number of groups.

        Neurons are joined one by one if clusters have any shape; compact clusters merge as a whole.
        """
        if self._tree[0] is not self.model.diagnosis_:
            number, tree = self.model.neuron_clusters_, self.model._tree
            pairs = tree.used[tree.edges]
            of = number[pairs]  # (k - 1, 2) clusters
            links = pairs[(of[:, 0] == of[:, 1]) & (of[:, 0] >= 0) & (not tree.compact)]
            found = {"clusters": number.astype(np.int32), "links": links.astype(np.int32)}
            self._tree = self.model.diagnosis_, {**found, "scores": tree.scores.astype(np.float64)}
        return self._tree[1]

    def preview(self) -> dict[str, Array]:
        """The next sample of the plane, and its step of Equation 1: attraction and repulsion, (K, 2) each.

        With an automatic width, the response is the share of each neuron, and there is no such step.
        """
        x, centers, widths = self.feed.next().x[0], self.model.centers_, self.model.widths_
        if self.shares:
            return {"x": x, "answer": reference_shares.shares(x, centers, widths)}
        step = center_step if widths.ndim == 1 else reference_shaped.center_step
        pull = step(x, centers, widths, 0.0, self.setup.learning_rate)
        push = step(x, centers, widths, self.setup.inhibition, self.setup.learning_rate) - pull
        found = {"x": x, "pull": pull, "push": push, "answer": responses(x[None], centers, widths)[0]}
        return {name: np.asarray(array, np.float64) for name, array in found.items()}

    def script(self) -> str:
        """The trial as a Python script."""
        held = [script.move_line(self.index(neuron), center) for neuron, center in self.held.items()]
        return self.journal.script(self.seen, held)

    def strongest(self, neuron: int) -> dict[str, Array]:
        """The recent samples with the strongest responses of a neuron; its longest and shortest half axis."""
        recent, k = self.model.recent_samples_, self.index(neuron)
        response = self.model.transform(recent)[:, k] if len(recent) else np.zeros(0)
        best = np.argsort(-response, kind="stable")[:STRONGEST]
        width = self.model.widths_[k]
        squares = np.linalg.eigvalsh(width) if width.ndim == 2 else width
        return {
            "patches": self._shown(recent[best]),
            "responses": response[best].astype(np.float32),
            "axes": np.sqrt([squares.max(), squares.min()]).astype(np.float32),
        }

    @property
    def n_points(self) -> int:
        """Points in the plane; 0 for images."""
        return 0 if isinstance(self.source, Images) else len(self.source.points)

    def points(self, first: int = 0) -> dict[str, Array]:
        """The points of the plane from index `first`, and which of them were added."""
        assert isinstance(self.source, Points)
        added = np.zeros(self.n_points, np.uint8)
        added[self.n_points - self.source.added :] = 1
        return {"points": self.source.points[first:], "painted": added[first:]}

    def _shown(self, values: Array) -> Array:
        return pixels(values) if self._are_images else values.astype(np.float64)


def _finite(values: Array) -> Array:
    return np.nan_to_num(values.astype(np.float32), posinf=1e6, neginf=-1e6)


CHANGES: dict[str, Callable[[Trial, Setup], None]] = {
    "K": Trial._change_count,
    "sigma": Trial._change_width,
    "lambda": lambda trial, _: trial._change_parameter("inhibition"),
    "eta": lambda trial, _: trial._change_parameter("learning_rate"),
    "eta_sigma": Trial._change_rate_of_widths,
    "noise": Trial._change_samples,
    "sample_width": Trial._change_samples,
    "classes": Trial._change_samples,
}
