"""Streams: reading in any order, and learning that is stopped and resumed."""

import copy
import json
import pickle
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from hypothesis import strategies as st

from fuzz.data_files import written
from fuzz.shared import (
    PARAMETERS,
    SEEDS,
    digest,
    folder,
    interrupted,
    needs_widths,
    silent,
    table,
    widths_for,
)
from fuzz.target import target
from gaussian_neurons import GaussianNeurons
from gaussian_neurons.datasets.synthetic import Drifting, Mixture, MovingDigits, TwoMoons
from gaussian_neurons.sampling import (
    Frames,
    Iterated,
    Neighbourhoods,
    Patches,
    Resumable,
    Rows,
    rows_from_file,
)

IMAGES = np.random.default_rng(0).integers(0, 255, (3, 9, 8), dtype=np.uint8)
FORM = {"delimiter": ",", "header": True, "newline": "\n", "end": "\n", "quoted": False, "objects": True}
FORM |= {"dtype": "f4", "order": "F", "group": 37}


def _file(kind: str) -> Any:
    def opened(place: Path, seed: int, rows: int) -> Any:
        path = place / f"rows.{kind}"
        if not path.exists():
            path.write_bytes(written(kind, table(rows, 2, seed), FORM)[0])
        return rows_from_file(path)

    return opened


def _dicts(x: Any) -> list[dict[str, float]]:
    return [dict(zip("ab", row, strict=True)) for row in x.tolist()]


def _after(x: Any, size: int, offset: Any) -> Any:
    """A source of chunks, whose offset is the next one."""
    for k in range(offset["next"], len(x), size):
        yield x[k : k + size], {"next": k + size}


STREAMS = {
    "rows": lambda place, seed, rows: Rows(table(rows, 2, seed)),
    "passes": lambda place, seed, rows: Rows(table(max(1, rows // 3), 2, seed), passes=3),
    "shuffled": lambda place, seed, rows: Rows(table(7, 2, seed), shuffle=True, seed=seed),
    "shuffled passes": lambda place, seed, rows: Rows(table(rows, 2), True, seed, passes=2),
    "widths": lambda place, seed, rows: Rows(table(rows, 2, seed), sample_width=widths_for(rows), passes=2),
    "covariances": lambda place, seed, rows: Rows(
        table(rows, 2, seed), sample_width=widths_for(rows, kind="full"), passes=2
    ),
    "mixture": lambda place, seed, rows: Mixture(3, seed=seed, noise=0.1, drift=0.1, new_every=50, period=99),
    "drifting": lambda place, seed, rows: Drifting(2, seed=seed, life=60),
    "moons": lambda place, seed, rows: TwoMoons(seed=seed, dtype=np.float64),
    "patches": lambda place, seed, rows: Patches(IMAGES, 2, seed=seed),
    "neighbourhoods": lambda place, seed, rows: Neighbourhoods(IMAGES, 2, 0.1, seed=seed),
    "neighbourhoods with covariances": lambda place, seed, rows: Neighbourhoods(
        IMAGES, 2, 0.1, seed=seed, covariance="full"
    ),
    "successive frames": lambda place, seed, rows: Frames(IMAGES, 2, 2, seed=seed, noise=0.1),
    "moving digits": lambda place, seed, rows: MovingDigits(9, seed=seed, life=20),
    "list": lambda place, seed, rows: Iterated(table(rows, 2, seed).tolist()),
    "chunks": lambda place, seed, rows: Iterated(np.array_split(table(rows, 2, seed), 5)),
    "pairs": lambda place, seed, rows: Iterated([(table(rows, 2, seed), widths_for(rows))] * 2),
    "dicts": lambda place, seed, rows: Iterated(_dicts(table(rows, 2, seed))),
    "frames": lambda place, seed, rows: Iterated(
        [pd.DataFrame(table(rows, 2, seed), columns=["a", "b"])] * 2
    ),
    "resumable rows": lambda place, seed, rows: Resumable(
        partial(_after, table(rows, 2, seed), 1), {"next": 0}
    ),
    "resumable chunks": lambda place, seed, rows: Resumable(
        partial(_after, table(rows, 2, seed), 17), {"next": 0}
    ),
    "csv": _file("csv"),
    "jsonl": _file("jsonl"),
    "npy": _file("npy"),
    "parquet": _file("parquet"),
}
WITH_COVARIANCES = ("covariances", "neighbourhoods with covariances")
WITH_WIDTHS = ("widths", "neighbourhoods", "successive frames", "pairs", *WITH_COVARIANCES)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.sampled_from(["read", "seek", "draw"]), st.integers(0, 130)),
        st.tuples(st.sampled_from(["copy", "pickle", "facts"]), st.just(0)),
    ),
    max_size=12,
)
MOST = 120  # rows that are compared


def _parts(read: Any) -> tuple[Any, Any]:
    return read if isinstance(read, tuple) else (read, None)


@target(
    "streams_reading",
    kind=st.sampled_from(sorted(kind for kind in STREAMS if "resumable" not in kind)),  # they do not go back
    seed=SEEDS,
    rows=st.sampled_from([1, 2, 40, 100]),
    steps=STEPS,
)
def reading(kind: str, seed: int, rows: int, steps: list[tuple[str, int]]) -> None:
    """Reading, seeking, drawing, copying and pickling in any order gives the rows of one pass, and a copy
    that moves on leaves its original where it is.
    """
    with folder() as place:
        x, widths = _parts(STREAMS[kind](place, seed, rows).read(4 * MOST))
        stream = STREAMS[kind](place, seed, rows)
        described, length = json.dumps(stream.describe()), stream.length
        assert length is None or length == len(x) or length > 4 * MOST, "length is wrong"
        at, originals = 0, []
        for what, n in steps:
            if what == "seek":
                at = min(n, len(x))
                assert stream.seek(at) is stream, "seek gives another stream"
            elif what in ("copy", "pickle"):
                originals.append((stream, at))
                stream = copy.copy(stream) if what == "copy" else pickle.loads(pickle.dumps(stream))
                assert stream.position == at, "a copy is elsewhere"
            elif what == "facts":
                assert json.dumps(stream.describe()) == described, "another description of the same stream"
            elif what == "read":
                got, own = _parts(stream.read(n))
                assert np.array_equal(got, x[at : at + n]) or not n, f"other rows at {at}"
                assert own is None or np.array_equal(own, widths[at : at + n]), f"other widths at {at}"
                at = min(at + n, len(x)) if len(x) < 4 * MOST else at + n
                if at > 2 * MOST:
                    stream.seek(0)
                    at = 0
            else:
                first = min(n, len(x))
                chunk = stream.draw(first, 1 + n % 50)
                assert 0 < chunk.taken <= 1 + n % 50 or first == len(x), f"{chunk.taken} rows at {first}"
                assert not chunk.taken or np.array_equal(chunk.x, x[first : first + chunk.taken]), (
                    "other rows"
                )
            assert stream.position == at, "the position is wrong"
        for original, position in originals:
            assert original.position == position, "reading a copy moved its original"
            got, _ = _parts(original.read(5))
            assert np.array_equal(got, x[position : position + 5]) or position == len(x), "other rows"


LEARNING = {
    "kind": st.sampled_from(sorted(STREAMS)),
    "seed": SEEDS,
    "rows": st.sampled_from([30, 400, 1300]),
    "begin": st.integers(0, 20),
    "every": st.sampled_from([1, 7, 100, 999, 5000]),
    "parameters": PARAMETERS,
}


def _suitable(kind: str, parameters: dict[str, Any]) -> str:
    """The kind, or one whose samples have widths of the type that a model needs."""
    wrong = kind in WITH_COVARIANCES and parameters.get("covariance_type") != "full"
    return "widths" if wrong or (needs_widths(parameters) and kind not in WITH_WIDTHS) else kind


def _taught(model: Any, stream: Any, total: int, every: int, **options: Any) -> Any:
    """Learn from the stream up to row `total`."""
    return model.learn(stream, total - stream.position, progress=False, every=every, **options)


class _Stop(Exception):
    pass


@target(
    "streams_learning",
    **LEARNING,
    how=st.sampled_from(["callback", "error", "interrupt"]),
    at=st.floats(0, 1),
    resume=st.sampled_from(["go on", "new model"]),
    acts=st.booleans(),
)
def learning(
    kind: str,
    seed: int,
    rows: int,
    begin: int,
    every: int,
    parameters: dict[str, Any],
    how: str,
    at: float,
    resume: str,
    acts: bool,
) -> None:
    """Learning that is stopped by a callback, an error or an interrupt, and then goes on, with the same model
    or with a new one from the checkpoint, gives the same bits as learning without a break; also if the
    callback changes a parameter.
    """
    kind = _suitable(kind, parameters)
    every = max(every, rows // 30)

    def callback(model: Any, t: int) -> None:
        if acts and t >= rows // 2:
            model.set_params(learning_rate=0.03)

    def stopping(model: Any, t: int) -> Any:
        callback(model, t)
        if t >= at * total:
            if how == "error":
                raise _Stop
            return how == "callback"
        return False

    with silent(), folder() as place:
        total = min(begin + rows, len(_parts(STREAMS[kind](place, seed, rows).read(begin + rows))[0]))
        begin = min(begin, total - 1)
        whole = STREAMS[kind](place, seed, rows).seek(begin)
        straight = _taught(GaussianNeurons(**parameters), whole, total, every, callback=callback)
        path = place / "run" if resume == "new model" and how != "callback" else None
        model, stream = GaussianNeurons(**parameters), STREAMS[kind](place, seed, rows).seek(begin)

        def first() -> None:
            _taught(model, stream, total, every, callback=stopping, checkpoint=path)

        try:
            if how == "interrupt":
                interrupted(first, 1e-4 + at**3 * 0.05)
            else:
                first()
        except _Stop:
            pass
        learned = model.n_samples_seen_ if model._state is not None else 0
        assert stream.position == begin + learned, "the stream is not where learning stopped"
        if path is not None:
            model, stream = GaussianNeurons(**parameters), STREAMS[kind](place, seed, rows).seek(begin)
            _taught(model, stream, total, every, callback=callback, checkpoint=path)
            assert {"run"} <= {one.name for one in place.iterdir()} <= {"run", f"rows.{kind}"}, (
                "files are left"
            )
        else:
            if acts and learned:
                callback(model, learned)
            model.learn(stream, total - stream.position, progress=False)
            callback(model, rows)
        if acts:  # after an interrupt, callbacks come at other places
            assert model.n_samples_seen_ == straight.n_samples_seen_, "another number of samples"
            if path is None:
                return
        assert digest(model) == digest(straight), "another model than without a break"
        assert stream.position == total, "the stream is not at its end"


@target("streams_callback", **LEARNING, reads=st.sampled_from(["read", "seek", "copy"]))
def callback_reads(
    kind: str, seed: int, rows: int, begin: int, every: int, parameters: dict[str, Any], reads: str
) -> None:
    """A callback that reads from the stream that is learned changes nothing of what is learned."""
    kind = _suitable(kind, parameters)
    every = max(every, rows // 30)

    def callback(model: Any, t: int) -> None:
        if reads == "read":
            stream.read(3)
        elif reads == "seek":
            stream.seek(0)
        else:
            copy.copy(stream).read(3)

    with silent(), folder() as place:
        total = min(begin + rows, len(_parts(STREAMS[kind](place, seed, rows).read(begin + rows))[0]))
        begin = min(begin, total - 1)
        stream = STREAMS[kind](place, seed, rows).seek(begin)
        straight = _taught(GaussianNeurons(**parameters), stream, total, every)
        stream = STREAMS[kind](place, seed, rows).seek(begin)
        model = _taught(GaussianNeurons(**parameters), stream, total, every, callback=callback)
        assert digest(model) == digest(straight), "the callback changed what was learned"


BAD = [np.nan, np.inf, -np.inf]


@target(
    "streams_skipping",
    bad=st.lists(st.tuples(st.integers(0, 299), st.integers(0, 1), st.sampled_from(BAD)), max_size=12),
    form=st.sampled_from(["rows", "array", "list", "chunks", "dicts", "frame", "csv", "npy", "mixed"]),
    every=st.sampled_from([1, 7, 100]),
    parameters=PARAMETERS.filter(lambda parameters: not needs_widths(parameters)),
)
def skipping(bad: list[tuple[int, int, float]], form: str, every: int, parameters: dict[str, Any]) -> None:
    """With on_bad="skip" a stream with invalid rows gives what its valid rows alone give, and counts the
    others; with "raise", what the rows before the first invalid one give.
    """
    x = table(300)
    for row, column, value in bad:
        x[row, column] = value
    good = np.isfinite(x).all(axis=1)
    first = len(x) if good.all() else int(np.argmin(good))
    with silent(), folder() as place:

        def source() -> Any:
            if form in ("csv", "npy"):
                (place / f"rows.{form}").write_bytes(written(form, x, FORM | {"dtype": "f8"})[0])
                return rows_from_file(place / f"rows.{form}")
            return {
                "rows": lambda: Rows(x, passes=1),
                "array": lambda: x,
                "list": lambda: list(x),
                "chunks": lambda: np.array_split(x, 7),
                "dicts": lambda: _dicts(x),
                "frame": lambda: pd.DataFrame(x),
                "mixed": lambda: [row if fine else "word" for row, fine in zip(x, good, strict=True)],
            }[form]()

        model, stopped = GaussianNeurons(**parameters), GaussianNeurons(**parameters)
        model.learn(source(), progress=False, every=every, on_bad="skip")
        alone = GaussianNeurons(**parameters)
        if good.any():
            alone.partial_fit(x[good])
            assert model.n_skipped_ == (~good).sum(), f"{model.n_skipped_} skipped"
            assert digest(model, skipped=0, names=None) == digest(alone), "other rows were learned"
        try:
            stopped.learn(source(), progress=False, every=every)
        except ValueError as error:
            found, text = first, str(error)
        else:
            found, text = len(x), ""
        assert found == first, "a row was refused, or was not"
        assert not text or str(first) in text, f"the message names another row than {first}: {text}"
        before = GaussianNeurons(**parameters)
        if first:
            before.partial_fit(x[:first])
        assert digest(stopped, names=None) == digest(before), "other rows than those before the invalid one"
