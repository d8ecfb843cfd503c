"""Calls of a model in any order, beside a twin that gets the same rows cut differently."""

import copy
import pickle
from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from sklearn.base import clone

from fuzz.shared import (
    COUNTS,
    CUTS,
    FEW,
    PARAMETERS,
    SEEDS,
    attempt,
    digest,
    folder,
    interrupted,
    needs_widths,
    pieces,
    silent,
    table,
    unchanged,
    widths_for,
)
from fuzz.target import target
from gaussian_neurons import GaussianNeurons
from gaussian_neurons.sampling import Rows

READS = (
    "predict",
    "is_novel",
    "score_samples",
    "transform",
    "cost",
    "predict_proba",
    "score",
    "attributes",
    "repr",
)
BAD_CALLS = {
    "NaN": lambda model, x: model.partial_fit(np.where(np.arange(len(x))[:, None] == len(x) - 1, np.nan, x)),
    "columns": lambda model, x: model.partial_fit(x[:, :1]),
    "no rows": lambda model, x: model.partial_fit(x[:0]),
    "words": lambda model, x: model.fit([["a", "b"]]),
    "sample_width": lambda model, x: model.partial_fit(x, sample_width=[-1.0] * len(x)),
    "learn": lambda model, x: model.learn(x, on_bad="ignore"),
    "learn columns": lambda model, x: model.learn(x[:, :1], progress=False),
    "callback": lambda model, x: model.learn(x, callback=3),
    "add": lambda model, x: model.add_neurons(0),
    "move": lambda model, x: model.move_neurons(99, centers=[[0.0, 0.0]]),
    "move to NaN": lambda model, x: model.move_neurons(0, centers=[[np.nan, 0.0]]),
    "remove all": lambda model, x: model.remove_neurons(np.ones(len(model.centers_), bool)),
    "names": lambda model, x: setattr(model, "feature_names_in_", ["a"]),
    "place": lambda model, x: model.place_neurons(0),
}


@target("operations")
class Operations(RuleBasedStateMachine):
    """Learning does not depend on how rows are cut into calls, errors and reads change nothing, an interrupt
    leaves whole samples and an exact count, and a copy, a pickle or a loaded file goes on with the same bits.
    """

    model: Any = None

    @initialize(parameters=PARAMETERS, single=st.booleans())
    def begin(self, parameters: dict[str, Any], single: bool) -> None:
        self.model, self.twin = GaussianNeurons(**parameters), GaussianNeurons(**parameters)
        self.widths, self.count = needs_widths(parameters), 0
        self.kind = parameters.get("covariance_type", "spherical")
        self.dtype = np.float32 if single else np.float64

    def _rows(self, rows: int, seed: int) -> tuple[Any, Any]:
        widths = widths_for(rows, seed, self.kind) if self.widths else None
        return table(rows, 2, seed, self.dtype), widths

    def _teach_twin(self, x: Any, widths: Any, cuts: list[int]) -> None:
        for part in pieces(len(x), cuts):
            self.twin.partial_fit(x[part], sample_width=None if widths is None else widths[part])
        self.count += len(x)

    def _learned(self) -> bool:
        return self.model is not None and self.model._state is not None

    @rule(rows=COUNTS, seed=SEEDS, cuts=CUTS)
    def partial_fit(self, rows: int, seed: int, cuts: list[int]) -> None:
        x, widths = self._rows(rows, seed)
        self.model.partial_fit(x, sample_width=widths)
        self._teach_twin(x, widths, cuts)

    @rule(rows=COUNTS, seed=SEEDS, cuts=CUTS, every=st.integers(1, 900))
    def learn(self, rows: int, seed: int, cuts: list[int], every: int) -> None:
        x, widths = self._rows(rows, seed)
        with unchanged(self.twin):
            self.model.learn(Rows(x, passes=1, sample_width=widths), progress=False, every=every)
        self._teach_twin(x, widths, cuts)

    @precondition(_learned)  # before, the rules that can follow would depend on the time
    @rule(
        rows=COUNTS, seed=SEEDS, cuts=CUTS, by=st.sampled_from(["partial_fit", "learn"]), at=st.floats(0, 1)
    )
    def interrupt(self, rows: int, seed: int, cuts: list[int], by: str, at: float) -> None:
        x, widths = self._rows(rows, seed)
        stream = Rows(x, passes=1, sample_width=widths)
        calls = {
            "partial_fit": lambda: self.model.partial_fit(x, sample_width=widths),
            "learn": lambda: self.model.learn(stream, progress=False, every=100),
        }
        interrupted(calls[by], 1e-5 + at**4 * 0.05)
        taken = self.model.n_samples_seen_ - self.count
        assert 0 <= taken <= rows, f"{taken} of {rows} rows after an interrupt"
        if by == "learn":
            assert stream.position == taken, f"the stream is at {stream.position}, the model took {taken}"
        if taken:
            self._teach_twin(x[:taken], None if widths is None else widths[:taken], cuts)
        # An interrupt can leave the first data complete, but not yet learned from. One more row settles that.
        x, widths = self._rows(1, seed)
        self.model.partial_fit(x, sample_width=widths)
        self._teach_twin(x, widths, cuts)

    @precondition(_learned)
    @rule(what=st.sampled_from(READS), rows=FEW, seed=SEEDS)
    def read(self, what: str, rows: int, seed: int) -> None:
        x = table(rows, 2, seed)
        with unchanged(self.model):
            if what == "repr":
                repr(self.model)
            elif what == "attributes":
                for name in ("learned_", "centers_", "diagnosis_", "events_", "widths_", "neuron_clusters_"):
                    getattr(self.model, name)
                self.model.novelty_threshold(0.5)
            else:
                result = getattr(self.model, what)(x)
                assert what in ("cost", "score") or len(result) == rows, "an answer for each row"
                assert np.array_equal(result, getattr(self.twin, what)(x)), "the twin answers otherwise"

    @precondition(_learned)
    @rule(count=st.integers(1, 3), given=st.booleans(), width=st.sampled_from([None, 0.2]))
    def add_neurons(self, count: int, given: bool, width: Any) -> None:
        how = {"centers": table(count)} if given else {"n_neurons": count}
        for model in (self.model, self.twin):
            model.add_neurons(**how, width=width)

    @precondition(_learned)
    @rule(index=st.integers(0, 9))
    def remove_neurons(self, index: int) -> None:
        count = len(self.model.centers_)
        if count > 1:
            for model in (self.model, self.twin):
                model.remove_neurons(index % count)

    @precondition(_learned)
    @rule(index=st.integers(0, 9), seed=SEEDS, width=st.sampled_from([None, 0.1, "covariance"]))
    def move_neurons(self, index: int, seed: int, width: Any) -> None:
        if width == "covariance":
            width = widths_for(1, seed, self.kind)
        for model in (self.model, self.twin):
            model.move_neurons(index % len(model.centers_), centers=table(1, 2, seed), width=width)

    @precondition(_learned)
    @rule(change=st.sampled_from([{"n_clusters": 3}, {"learning_rate": 0.01}, {"shape": "any"}]))
    def set_params(self, change: dict[str, Any]) -> None:
        if "n_clusters" in change:
            change = {"n_clusters": min(change["n_clusters"], self.model.n_neurons)}
        for model in (self.model, self.twin):
            model.set_params(**change)

    @precondition(_learned)
    @rule(how=st.sampled_from(["save", "pickle", "copy", "deepcopy"]))
    def replace(self, how: str) -> None:
        before, other = digest(self.model), None
        with unchanged(self.model), folder() as place:
            if how == "save":
                self.model.save(place / "model")
                other = GaussianNeurons.load(place / "model")
                assert [path.name for path in place.iterdir()] == ["model"], "a file is left over"
            elif how == "pickle":
                other = pickle.loads(pickle.dumps(self.model))
            else:
                other = getattr(copy, how)(self.model)
        assert digest(other) == before, "another model came back"
        self.model = other

    @rule(rows=FEW, seed=SEEDS)
    def clone_and_fit(self, rows: int, seed: int) -> None:
        x, widths = self._rows(rows, seed)
        with silent(), unchanged(self.model), unchanged(self.twin):
            fitted = [clone(model).fit(x, sample_width=widths) for model in (self.model, self.twin)]
        assert digest(fitted[0]) == digest(fitted[1]), "the clones learned different things"
        assert np.array_equal(fitted[0].labels_, fitted[0].predict(x)), "labels_ are not those of predict"
        assert fitted[0].cluster_numbers_.tolist() == list(range(fitted[0].n_clusters_)), "numbers after fit"

    @precondition(_learned)
    @rule(name=st.sampled_from(["NaN"] * 4 + sorted(BAD_CALLS)), rows=COUNTS)
    def bad_call(self, name: str, rows: int) -> None:
        with unchanged(self.model):
            _, error = attempt(lambda: BAD_CALLS[name](self.model, table(rows)))
            assert error is not None, "a bad call was accepted"

    @invariant()
    def equal(self) -> None:
        if not self._learned():
            return
        assert self.model.n_samples_seen_ == self.count, (
            f"{self.model.n_samples_seen_} seen, not {self.count}"
        )
        with unchanged(self.model):
            numbers = self.model.cluster_numbers_.tolist()
            labels = self.model.predict(self.model.recent_samples_).tolist()
        assert len(set(numbers)) == len(numbers) == self.model.n_clusters_, f"numbers {numbers}"
        assert set(labels) <= {-1, *numbers}, "a label that no cluster has"
        assert digest(self.model) == digest(self.twin), "model and twin differ"
