"""One thread learns while another reads."""

import copy
import itertools
import pickle
import sys
import threading
from typing import Any

import numpy as np
from hypothesis import strategies as st

from fuzz.shared import PARAMETERS, digest, folder, needs_widths, pieces, silent, table, widths_for
from fuzz.target import target
from gaussian_neurons import GaussianNeurons
from gaussian_neurons.sampling import Rows

READS = ("predict", "n_clusters", "centers", "is_novel", "save", "copy", "pickle", "cost", "labels")


def _look(model: Any, what: str, x: Any, path: Any) -> Any:
    """One read; copies are returned, since each must be a state that the learner passed through."""
    if what == "save":
        model.save(path)
        return GaussianNeurons.load(path)
    if what in ("copy", "pickle"):
        return copy.copy(model) if what == "copy" else pickle.loads(pickle.dumps(model))
    if what in ("predict", "is_novel", "cost"):
        getattr(model, what)(x)
    elif what == "labels":
        numbers = model.cluster_numbers_
        assert len(np.unique(numbers)) == len(numbers), "a cluster number twice"
    else:
        getattr(model, f"{what}_")
    return None


@target(
    "threads",
    parameters=PARAMETERS,
    rows=st.sampled_from([300, 1300, 2500]),
    cuts=st.lists(st.sampled_from([20, 100, 333, 700]), min_size=1, max_size=3),
    by=st.sampled_from(["partial_fit", "learn"]),
    reads=st.lists(st.sampled_from(READS), min_size=1, max_size=4),
    begun=st.booleans(),
)
def threads(
    parameters: dict[str, Any], rows: int, cuts: list[int], by: str, reads: list[str], begun: bool
) -> None:
    """While a thread learns, another can read, copy and save: nothing is raised, every copy is a state that
    the learner passed through, the count never falls, and what is learned is the same as without a reader.
    """
    x, widths = table(rows), widths_for(rows) if needs_widths(parameters) else None
    parts = list(pieces(rows, cuts if by == "partial_fit" else cuts[:1]))
    alone, passed = GaussianNeurons(**parameters), set()
    for part in parts:
        alone.partial_fit(x[part], sample_width=None if widths is None else widths[part])
        passed.add((alone.n_samples_seen_, digest(alone)))
    model, errors = GaussianNeurons(**parameters), []

    def teach(some: Any) -> None:
        try:
            if by == "learn":
                left = x[some[0].start :]
                own = None if widths is None else widths[some[0].start :]
                stream = Rows(left, passes=1, sample_width=own)
                model.learn(stream, progress=False, every=cuts[0])
            for part in some if by == "partial_fit" else ():
                model.partial_fit(x[part], sample_width=None if widths is None else widths[part])
        except BaseException as error:
            errors.append(error)

    if begun:
        first, parts = parts[0], parts[1:]
        model.partial_fit(x[first], sample_width=None if widths is None else widths[first])
    interval = sys.getswitchinterval()
    learner = threading.Thread(target=teach, args=(parts,))
    copies, counts = [], []
    try:
        sys.setswitchinterval(1e-5)
        with silent(), folder() as place:
            if parts:
                learner.start()
            for what in itertools.cycle(reads):
                done = not parts or not learner.is_alive()
                if model._state is not None:
                    counts.append(model.n_samples_seen_)
                    copies.append(_look(model, what, x[:5], place / "model"))
                if done:
                    break
    finally:
        sys.setswitchinterval(interval)
        if parts:
            learner.join()
    assert not errors, f"the learner raised {errors}"
    assert counts == sorted(counts), "the count fell"
    assert set(counts) <= {count for count, _ in passed}, "a count between two chunks"
    for one in copies[:: max(1, len(copies) // 20)]:
        assert one is None or (one.n_samples_seen_, digest(one)) in passed, "a copy is a state that never was"
    assert digest(model) == digest(alone), "with a reader, something else was learned"
