"""One trial: neurons from a start, the samples they learn from, and whatever is done to them on the way."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gaussian_neurons import GaussianNeurons
from gaussian_neurons.live import script
from gaussian_neurons.live.frames import pixels
from gaussian_neurons.live.lost import Lost
from gaussian_neurons.live.setup import MOST_NEURONS, Setup
from gaussian_neurons.live.sources import Images, Points, Source
from gaussian_neurons.sampling import Chunk, Stream
from gaussian_neurons.sampling.ahead import chunks_ahead

Array = NDArray[Any]

ENDLESS = 1 << 62
STRONGEST = 6  # patches that are shown of a neuron
JUDGED = 10  # samples for each neuron: before, none counts as learned
ARRIVED = {"image": 24, "plane": 200}  # samples that a frame shows
PARAMETERS = ("inhibition", "learning_rate", "width_learning_rate")  # which a model reads at every call


class Feed:
    """A stream in portions of any size, drawn ahead in a second thread."""

    def __init__(self, stream: Stream, first: int) -> None:
        self._chunks = chunks_ahead(stream, first, None, ENDLESS, first)
        self._rest: Chunk | None = None

    def take(self, most: int) -> Chunk:
        """Some of the next samples, at least one and at most so many."""
        if self._rest is None or not self._rest.taken:
            self._rest = next(self._chunks)
        taken, self._rest = self._rest.cut(most)
        return taken

    def close(self) -> None:
        """End the thread."""
        self._chunks.close()


class Trial:
    """Neurons that learn from a source as a setup says.

    Neurons have numbers from 1 on, which they keep when others go.
    """

    def __init__(self, setup: Setup, source: Source) -> None:
        self.setup, self.source = setup, source
        self._pixels = isinstance(source, Images)
        domain: Any = (0.0, 1.0) if isinstance(source, Images) else (source.low, source.high)
        init = script.begun_at(setup, source)
        self.model = GaussianNeurons(
            setup.n_neurons,
            width=setup.width,
            inhibition=setup.inhibition,
            learning_rate=setup.learning_rate,
            width_learning_rate=setup.width_learning_rate,
            init="uniform" if init is None else init,
            domain=domain,
            random_state=setup.seed,
        )
        self.position = 0  # in the stream
        stream = source.stream(setup)
        dimensions = stream.n_features or 0
        self.model.place_neurons(dimensions, script.precision(source))
        self.feed = Feed(stream, 0)
        self.ids = list(range(1, setup.n_neurons + 1))
        self.given = setup.n_neurons  # numbers given so far
        self.held: dict[int, tuple[float, float]] = {}  # neurons in somebody's hand, and where
        self._held_on = False  # while others learned
        self.arrived = np.zeros((0, dimensions))
        self._lost = Lost(self.model, self._pixels)
        self.journal = script.Journal(setup, source)

    def close(self) -> None:
        """End the thread that draws."""
        self.feed.close()

    @property
    def seen(self) -> int:
        """Samples learned from."""
        return self.model.n_samples_seen_

    @property
    def mode(self) -> str:
        """How it is shown."""
        return "image" if self._pixels else "plane"

    # ---- learning ---------------------------------------------------------------------------------

    def learn(self, most: int) -> int:
        """Learn from at most so many of the next samples; say how many there were."""
        try:
            chunk = self.feed.take(most)
            self.model.partial_fit(chunk.x, sample_width=chunk.widths)
        except Exception:
            self._new_feed()  # from the same place: nothing was learned of these
            raise
        self.position += chunk.taken
        shown = ARRIVED[self.mode]
        self.arrived = np.concatenate([self.arrived, chunk.x[-shown:]])[-shown:]
        if self.held:
            self._hold()
            self._held_on = True
        return len(chunk.x)

    def _hold(self) -> None:
        numbers = [self.index(neuron) for neuron in self.held]
        self.model.move_neurons(numbers, centers=list(self.held.values()))

    # ---- what can be done to it -------------------------------------------------------------------

    def index(self, neuron: int) -> int:
        """Where the neuron of that number stands."""
        if neuron not in self.ids:
            raise ValueError(f"there is no neuron {neuron} any more; it may have been removed meanwhile.")
        return self.ids.index(neuron)

    def remove(self, neurons: Sequence[int]) -> None:
        """Remove neurons by their numbers."""
        numbers = [self.index(neuron) for neuron in neurons]
        if len(numbers) >= len(self.ids):
            raise ValueError("the last neuron cannot be removed: at least one must stay.")
        self.release([neuron for neuron in neurons if neuron in self.held])
        centers, widths = self.model.centers_, self.model.widths_
        lost = [(self.ids[k], centers[k].copy(), float(widths[k])) for k in numbers if self.learned[k]]
        self.model.remove_neurons(numbers)
        self.ids = [neuron for neuron in self.ids if neuron not in neurons]
        for one in lost:
            self._lost.add(*one, self.learned)
        self.journal.note(self.seen, f"model.remove_neurons({numbers})")

    def add(self, count: int, at: tuple[float, float] | None) -> None:
        """Add neurons: anywhere in the domain, or one at a place."""
        if len(self.ids) + count > MOST_NEURONS:
            raise ValueError(f"there can be at most {MOST_NEURONS} neurons, and {len(self.ids)} are there.")
        if at is not None and self._pixels:
            raise ValueError("a place can be given in the plane only.")
        where = f"{count}" if at is None else f"centers=[{list(at)}]"
        if at is None:
            self.model.add_neurons(count, width=self.setup.width)
        else:
            self.model.add_neurons(centers=[list(at)], width=self.setup.width)
        self.ids += range(self.given + 1, self.given + count + 1)
        self.given += count
        self.journal.note(self.seen, f"model.add_neurons({where}, width={self.setup.width!r})")

    def hold(self, neuron: int, place: tuple[float, float]) -> None:
        """Take a neuron in the hand, and hold it there."""
        if self._pixels:
            raise ValueError("neurons can be moved in the plane only.")
        self.index(neuron)
        self.held[neuron] = place
        self._hold()

    def release(self, neurons: Sequence[int]) -> None:
        """Let go of neurons: from here on they learn."""
        for neuron in neurons:
            if neuron in self.held:
                self.journal.note(self.seen, script.moved_line(self.index(neuron), self.held.pop(neuron)))
        if self._held_on and not self.held:
            self.journal.note(self.seen, "# until here neurons were held while others learned: not repeated")
            self._held_on = False

    def change(self, name: str, setup: Setup) -> None:
        """Take over one value of another setup while learning goes on."""
        before, self.setup = self.setup, setup
        try:
            CHANGES.get(name, _none)(self, before)
        except Exception:
            self.setup = before
            raise

    def paint(self, points: Array) -> None:
        """Add points to the data."""
        self._of_points(lambda source: source.with_points(points))

    def drop_noise(self, count: int) -> None:
        """Add points anywhere in the domain."""
        self._of_points(lambda source: source.with_noise(count, self.setup.seed))

    def unpaint(self) -> None:
        """Take back all that were added."""
        self._of_points(Points.without_added)

    def _of_points(self, change: Callable[[Points], Points]) -> None:
        if not isinstance(self.source, Points):
            raise ValueError("points can be painted in the plane only.")
        known, self.source = self.source.added_code, change(self.source)
        taken_back = (f"points = points[:{len(self.source.points)}]",)
        for line in self.source.added_code[len(known) :] or taken_back:
            self.journal.note(self.seen, line)
        self._change_samples(self.setup)

    def _new_feed(self) -> None:
        """Go on with other samples from the same place."""
        stream = self.source.stream(self.setup)
        self.feed.close()
        self.feed = Feed(stream, self.position)

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
        self.journal.note(self.seen, f"model.set_params(width={width!r}).{moved}")

    def _change_rule(self, before: Setup) -> None:
        changed = {
            name: getattr(self.setup, name)
            for name in PARAMETERS
            if getattr(self.setup, name) != getattr(before, name)
        }
        learned_widths = before.width_learning_rate > 0, self.setup.width_learning_rate > 0
        if learned_widths[0] != learned_widths[1]:  # samples with widths, or without
            self._change_samples(before)
        self.model.set_params(**changed)
        told = ", ".join(f"{name}={value!r}" for name, value in changed.items())
        self.journal.note(self.seen, f"model.set_params({told})")

    def _change_samples(self, before: Setup) -> None:
        self._new_feed()
        self.journal.note(self.seen, script.stream_line(self.setup, self.source, self.position))

    def with_added(self, source: Source) -> Source:
        """Another source with the points that were added to this one."""
        mine = self.source
        if not isinstance(source, Points) or not isinstance(mine, Points) or not mine.added:
            return source
        return replace(source.with_points(mine.points[-mine.added :]), added_code=mine.added_code)

    # ---- what there is to see ---------------------------------------------------------------------

    @property
    def learned(self) -> NDArray[np.bool_]:
        """Which neurons have learned, once there were samples enough to tell, (K,)."""
        learned = self.model.learned_
        return learned if self.seen >= JUDGED * len(learned) else np.zeros_like(learned)

    def found_again(self) -> list[tuple[int, int]]:
        """Neurons that were removed, each with the one that has learned its pattern since: told once."""
        return [(old, self.ids[k]) for old, k in self._lost.found(self.learned)]

    def facts(self) -> dict[str, Any]:
        """Numbers about the trial as it is."""
        recent = self.model.recent_samples_
        cost = self.model.cost(recent) / len(recent) if len(recent) else None
        return {
            "seen": self.seen,
            "learned": int(self.learned.sum()),
            "cost": cost if cost is not None and np.isfinite(cost) else None,
        }

    def arrays(self) -> dict[str, Array]:
        """The neurons and the samples that arrived last, as a frame has them."""
        found, of = self.model.diagnosis_, self._shown
        centers = self.model.centers_
        domain: Any = (0.0, 1.0) if isinstance(self.source, Images) else (self.source.low, self.source.high)
        outside: Array = ((centers < domain[0]) | (centers > domain[1])).any(axis=1)
        learned = self.learned
        twin = (found.twin_of >= 0) & learned[found.twin_of]
        return {
            "ids": np.array(self.ids, np.int32),
            "centers": of(centers),
            "widths": self.model.widths_.astype(np.float32),
            "learned": np.where(twin, 2, learned).astype(np.uint8),
            "outside": outside.astype(np.uint8),
            "distance": _finite(found.domain_distance),
            "cosine": _finite(found.cosine),
            "share": found.share.astype(np.float32),
            "response": found.mean_response.astype(np.float32),
            "samples": of(self.arrived),
        }

    def script(self) -> str:
        """All of it as a Python script."""
        held = [script.moved_line(self.index(neuron), place) for neuron, place in self.held.items()]
        return self.journal.script(self.seen, held)

    def strongest(self, neuron: int) -> dict[str, Array]:
        """The recent samples that a neuron answers most strongly."""
        recent = self.model.recent_samples_
        response = self.model.transform(recent)[:, self.index(neuron)] if len(recent) else np.zeros(0)
        best = np.argsort(-response, kind="stable")[:STRONGEST]
        return {"patches": self._shown(recent[best]), "responses": response[best].astype(np.float32)}

    @property
    def n_points(self) -> int:
        """Of the plane."""
        return 0 if isinstance(self.source, Images) else len(self.source.points)

    def points(self, first: int = 0) -> dict[str, Array]:
        """The points of the plane from one on, and which of them were added by hand."""
        assert isinstance(self.source, Points)
        added = np.zeros(self.n_points, np.uint8)
        added[self.n_points - self.source.added :] = 1
        return {"points": self.source.points[first:], "painted": added[first:]}

    def _shown(self, values: Array) -> Array:
        return pixels(values) if self._pixels else values.astype(np.float64)


def _none(trial: Trial, before: Setup) -> None:
    """Nothing of the neurons changes."""


def _finite(values: Array) -> Array:
    return np.nan_to_num(values.astype(np.float32), posinf=1e6, neginf=-1e6)


CHANGES: dict[str, Callable[[Trial, Setup], None]] = {
    "K": Trial._change_count,
    "sigma": Trial._change_width,
    "lambda": Trial._change_rule,
    "eta": Trial._change_rule,
    "eta_sigma": Trial._change_rule,
    "noise": Trial._change_samples,
    "sample_width": Trial._change_samples,
    "classes": Trial._change_samples,
}
