"""Sweeps of small odd data with odd parameters."""

import json
from typing import Any

import numpy as np
from hypothesis import strategies as st

from fuzz.shared import SEEDS, attempt, silent, table
from fuzz.target import target
from gaussian_neurons import sweep
from gaussian_neurons.sampling import Rows
from gaussian_neurons.sweeping import Sweep

DATA = st.one_of(
    st.builds(
        lambda rows, columns, seed, scale: table(rows, columns, seed) * scale,
        st.sampled_from([1, 2, 3, 12]),
        st.integers(1, 3),
        SEEDS,
        st.sampled_from([1.0, 1.0, 1.0, 1e6, 1e-9, 1e150, 1e160, 1e-155, 1e-170, 0.0]),
    ),
    st.sampled_from([[[0.0], [1.0]], [[1, 2], [1, 2]], [[0.0, np.nan]], [], [[]], None, "rows.csv", [["a"]]]),
    st.builds(lambda rows: table(rows, dtype=np.float32), st.sampled_from([1, 5])),
)
ODD = [
    None,
    0,
    -1,
    1.5,
    True,
    "auto",
    "word",
    np.nan,
    [],
    [0.0],
    [1.0, 1.0],
    [-1.0],
    [np.inf],
    [[1.0]],
    (0.3, 2),
]
OPTIONS = st.fixed_dictionaries(
    {
        "n_neurons": st.one_of(st.integers(1, 4), st.sampled_from(ODD)),
        "widths": st.one_of(st.sampled_from([1, 2, 3, [1.0], [0.1, 1e-300], 7]), st.sampled_from(ODD)),
        "inhibitions": st.one_of(st.sampled_from([[0.5], [0.0, 2.0]]), st.sampled_from(ODD)),
        "seeds": st.one_of(st.sampled_from([1, 2, [3, 1]]), st.sampled_from(ODD)),
    },
    optional={
        "learning_rate": st.sampled_from(["auto", 0.0, 0.1, 1e9, *ODD[:6]]),
        "repulsion_every": st.sampled_from([1, 2, *ODD[:6]]),
        "init": st.sampled_from(["samples", "uniform", "spread", [[0.0]], *ODD[:6]]),
        "domain": st.sampled_from([None, (0, 1), (1, 0), *ODD[:6]]),
        "covariance_type": st.sampled_from(["spherical", "diag", "full", "full", *ODD[:6]]),
        "covariance": st.sampled_from([None, [2.0], [1.0, 2.0], [[2.0, 1.0], [1.0, 2.0]], [[1e-300]], *ODD]),
    },
)
USUAL = {"n_neurons": 3, "widths": [0.3], "inhibitions": [0.5], "seeds": 1}


@target(
    "sweep",
    data=DATA,
    n_samples=st.sampled_from([1, 20, 50, 50, 1100, 0, -1, 2.5, "all"]),
    options=OPTIONS,
    usual=st.sets(st.sampled_from(sorted(USUAL))),
    stream=st.booleans(),
)
def sweeps(data: Any, n_samples: Any, options: dict[str, Any], usual: set[str], stream: bool) -> None:
    """A sweep has a number for each width, inhibition and seed, or is refused with a ValueError or TypeError
    that has a sentence. It survives to_dict, JSON and from_dict, and `model` reproduces its cells.
    """
    options = options | {name: USUAL[name] for name in usual}
    if stream and isinstance(data, np.ndarray):
        source: Any = Rows(data)
    else:
        source = data
    found, error = attempt(lambda: sweep(source, n_samples, **options, n_jobs=1, progress=False))
    if error is not None:
        assert not isinstance(error, FloatingPointError), (
            f"a diverging model is a failure of its cell: {error}"
        )
        return
    shape = (len(found.widths), len(found.inhibitions), len(found.seeds))
    assert found.n_clusters.shape == found.mean_response.shape == shape, "the shapes differ"
    assert found.typical.shape == found.spread.shape == shape[:2], "the shapes differ"
    assert (np.diff(found.widths) > 0).all(), "the widths do not increase"
    assert (found.widths > 0).all(), "a width is not positive"
    assert np.isfinite(found.widths).all(), "a width is not finite"
    failed = found.n_clusters == -1
    assert ((found.n_clusters >= -1) & (found.n_clusters <= options["n_neurons"])).all(), "a wrong number"
    assert np.array_equal(failed, np.isnan(found.mean_response)), "a response without a number"
    assert failed.sum() == len(found.failures), "failures are not counted"
    text = json.dumps(found.to_dict(), allow_nan=False)
    again = Sweep.from_dict(json.loads(text))
    assert json.dumps(again.to_dict()) == text, "from_dict gives another sweep"
    assert repr(again) == repr(found), "from_dict gives another sweep"
    plateau = found.plateau()
    assert plateau is None or plateau.cells.shape == shape[:2], "the shape of the plateau"
    for place in [(0, 0, 0), tuple(size - 1 for size in shape)]:
        cell = [float(found.widths[place[0]]), float(found.inhibitions[place[1]]), found.seeds[place[2]]]
        with silent():
            model = found.model(*cell)
            learn = (lambda m=model: m.learn(source, n_samples, progress=False)) if stream else None
            if stream and isinstance(source, Rows):
                source.seek(0)
            else:
                learn = lambda m=model: m.fit(source)  # noqa: E731
            count, refused = attempt(lambda learn=learn: learn().n_clusters_)
        count = -1 if refused else count
        assert count == found.n_clusters[place], (
            f"the model has {count} clusters, its cell has another number"
        )
