"""learn: the bits of partial_fit, callbacks, bad rows, memory, the progress bar."""

import copy
import io
import subprocess
import sys
import warnings
from contextlib import contextmanager

import numpy as np
import pandas as pd
import pytest
import tqdm
from hypothesis import given, settings
from hypothesis import strategies as st

from gaussian_neurons import GaussianNeurons
from gaussian_neurons.base import extras, progress
from gaussian_neurons.base.bad_rows import BadRow
from gaussian_neurons.datasets.synthetic import Mixture
from gaussian_neurons.sampling import Chunk, Iterated, Neighbourhoods, Patches, Rows, Stream, rows_from_file
from tests.runs import IMAGES, X, model_of, same

# ---- the same as partial_fit ------------------------------------------------------------------------


@pytest.mark.parametrize("parameters", [{}, {"width": "auto", "domain": None}, {"init": "samples"}])
def test_learning_from_a_stream_is_learning_from_its_rows(parameters):
    x = X[:2600]
    rows = model_of(**parameters).partial_fit(x)
    for source in (x, Rows(x, passes=1), x.tolist(), iter(x), (x[k : k + 17] for k in range(0, len(x), 17))):
        assert same(model_of(**parameters).learn(source), rows)


def test_widths_of_samples_are_learned():
    stream = Neighbourhoods(IMAGES, 5, 0.1, seed=3)
    means, widths = stream.read(20_000)
    given_rows = model_of(width=10.0, width_learning_rate=0.1).partial_fit(means, sample_width=widths)
    model = model_of(width=10.0, width_learning_rate=0.1).learn(stream.seek(0), 20_000)
    assert same(model, given_rows)
    assert (model.widths_ != 10).any()
    assert model.centers_.dtype == np.float32


@pytest.mark.parametrize("kind", ["diag", "full"])
def test_covariances_of_samples_are_learned(kind, tmp_path):
    """From a stream as from its rows, also if a run is stopped and a loaded model goes on."""
    stream = Neighbourhoods(IMAGES, 3, 0.1, seed=3, covariance=kind)
    means, covariances = stream.read(3000)
    given = {"width": 3.0, "width_learning_rate": 0.1, "covariance_type": kind}
    given_rows = model_of(**given).partial_fit(means, sample_width=covariances)
    model_of(**given).learn(
        stream.seek(0), 3000, checkpoint=tmp_path / "run", every=500, callback=lambda model, t: t == 1500
    )
    stopped = GaussianNeurons.load(tmp_path / "run")
    assert stopped.n_samples_seen_ == 1500
    assert same(stopped.learn(stream.seek(1500), 1500), given_rows)
    assert not np.isin(given_rows.widths_, [0.0, 3.0]).any()  # those of the start


@settings(max_examples=10)
@given(cuts=st.lists(st.integers(1, 5000), min_size=1, max_size=4), every=st.integers(50, 5000))
def test_the_bits_do_not_depend_on_how_a_stream_is_cut(cuts, every):
    stream = Patches(IMAGES, 3, seed=1)
    model = model_of(width=1.0)
    for cut in cuts:
        model.learn(stream, cut, every=every)
    assert stream.position == sum(cuts)
    assert same(model, model_of(width=1.0).partial_fit(Patches(IMAGES, 3, seed=1).read(sum(cuts))))


def test_learning_begins_at_the_position_of_the_stream():
    model = model_of(width=1.0).learn(Patches(IMAGES, 3, seed=1).seek(1000), 500)
    assert same(model, model_of(width=1.0).partial_fit(Patches(IMAGES, 3, seed=1).seek(1000).read(500)))


def test_a_stream_that_ends_early_is_a_warning():
    assert model_of().learn(Rows(X, passes=1)).n_samples_seen_ == len(X)
    with pytest.warns(UserWarning, match="the stream ended after 12,000 of 20,000 samples"):
        model_of().learn(Rows(X, passes=1), 20_000)


def test_an_endless_stream_needs_a_number():
    with pytest.raises(ValueError, match="never ends: give the number of samples"):
        model_of().learn(Rows(X))


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"n_samples": -1}, "n_samples"),
        ({"n_samples": 1.5}, "n_samples"),
        ({"every": 0}, "every"),
        ({"on_bad": "ignore"}, "on_bad must be one of 'raise', 'skip', got 'ignore'"),
        ({"on_write_error": "panic"}, "on_write_error must be one of 'raise', 'warn'"),
        ({"callback": 3}, "callback must be a function"),
        ({"callback": lambda model: None}, "callback must be a function of .* two arguments"),
    ],
)
def test_wrong_arguments_are_refused_before_learning(arguments, says):
    model = model_of()
    with pytest.raises(ValueError, match=says):
        model.learn(X, **arguments)
    assert not model.__sklearn_is_fitted__()


def test_wrong_parameters_and_columns_leave_the_state_as_it_was():
    model = model_of(width=-1.0)
    with pytest.raises(ValueError, match="width"):
        model.learn(X)
    assert not model.__sklearn_is_fitted__()
    model = model_of().learn(X)
    before = model._state
    with pytest.raises(ValueError, match="X has 3 features, but GaussianNeurons is expecting 2"):
        model.learn(np.zeros((5, 3)))
    with pytest.raises(ValueError, match="sample widths are needed"):
        model.set_params(width_learning_rate=0.1).learn(X)
    assert model._state is before


def test_zero_samples_leave_a_model_unfitted():
    model = model_of()
    model.learn(Patches(IMAGES, 3), 0)
    assert not model.__sklearn_is_fitted__()


# ---- callbacks --------------------------------------------------------------------------------------


def test_the_callback_is_called_every_n_samples_and_at_the_end():
    calls = []
    model = model_of().learn(
        Rows(X), 2500, every=1000, callback=lambda m, t: calls.append((m.n_samples_seen_, t))
    )
    assert calls == [(1000, 1000), (2000, 2000), (2500, 2500)]
    calls.clear()
    model.learn(Rows(X), 2000, every=1000, callback=lambda m, t: calls.append((m.n_samples_seen_, t)))
    assert calls == [(3500, 1000), (4500, 2000)]


def test_the_callback_can_stop():
    stream = Rows(X)
    model = model_of().learn(stream, 10_000, every=500, callback=lambda _, t: t >= 1500)
    assert model.n_samples_seen_ == 1500
    assert stream.position == 1500


def test_only_true_stops():
    calls = []
    for answer in (X, "yes", 1, None, model_of()):
        model = model_of().learn(
            Rows(X), 200, every=100, callback=lambda m, t, answer=answer: calls.append(t) or answer
        )
        assert model.n_samples_seen_ == 200
    assert (
        model_of().learn(Rows(X), 200, every=100, callback=lambda m, t: np.bool_(True)).n_samples_seen_ == 100
    )


def test_whole_floats_are_accepted_as_counts():
    assert model_of().learn(Rows(X), 1e3, every=5e2).n_samples_seen_ == 1000


def test_frames_keep_their_names():
    frame = pd.DataFrame(X, columns=["x", "y"])
    model = model_of().learn(frame)
    assert model.feature_names_in_.tolist() == ["x", "y"]
    model.predict(frame)
    with pytest.raises(ValueError, match="must be in the same order"):
        model.learn(frame[["y", "x"]])


def test_fit_refuses_a_stream_and_names_learn():
    with pytest.raises(TypeError, match=r"use learn\(stream, n_samples\)"):
        model_of().fit(Rows(X))


def test_the_callback_can_change_the_model():
    """A rate that falls: the same as partial_fit with other parameters in between."""

    def slower(model, t):
        model.set_params(learning_rate=0.0005 / (1 + t / 1000))

    model = model_of(learning_rate=0.0005).learn(X, every=1000, callback=slower)
    other = model_of(learning_rate=0.0005)
    for t in range(0, len(X), 1000):
        other.partial_fit(X[t : t + 1000])
        slower(other, t + 1000)
    assert same(model, other)


def test_an_error_in_the_callback_is_raised_and_the_model_is_valid():
    def broken(model, t):
        raise RuntimeError("plot window closed")

    model, stream = model_of(), Rows(X)
    with pytest.raises(RuntimeError, match="plot window closed"):
        model.learn(stream, 5000, every=1000, callback=broken)
    assert model.n_samples_seen_ == stream.position == 1000


# ---- bad rows ---------------------------------------------------------------------------------------


BAD = np.array([0, 1, 700, 5000, 5001, 5002, 11_999])


def with_bad_rows():
    x = X.copy()
    x[BAD, 1] = [np.nan, np.inf, np.nan, -np.inf, np.nan, np.nan, np.nan]
    return x


@pytest.mark.parametrize("parameters", [{}, {"width": "auto", "domain": None}])
def test_a_bad_row_is_named_and_everything_before_it_is_learned(parameters, tmp_path):
    x = with_bad_rows()[2:]
    for number, source in enumerate((Rows(x), Iterated(x), Iterated(list(x)))):
        model = model_of(**parameters)
        with pytest.raises(BadRow, match="got NaN at row 698, column 1"):
            model.learn(source, 5000, checkpoint=tmp_path / str(number))
        assert same(model, model_of(**parameters).partial_fit(x[:698]))
        assert source.position == 698
        kept = GaussianNeurons.load(tmp_path / str(number))
        assert same(kept, model)


@pytest.mark.parametrize("parameters", [{}, {"width": "auto", "domain": None}])
def test_bad_rows_can_be_skipped_and_are_counted(parameters):
    clean = model_of(**parameters).partial_fit(np.delete(X, BAD, axis=0))
    for source in (Rows(with_bad_rows(), passes=1), Iterated(with_bad_rows())):
        model = model_of(**parameters)
        with pytest.warns(UserWarning, match=r"7 rows were skipped. The first: .*row 0.*row 1.*row 700"):
            model.learn(source, on_bad="skip")
        assert (model.centers_ == clean.centers_).all()
        assert model.n_samples_seen_ == len(X) - 7
        assert model.n_skipped_ == 7
        assert source.position == len(X)


def test_bad_rows_are_numbered_from_the_beginning_of_the_stream():
    x = with_bad_rows()
    with pytest.raises(BadRow, match="row 700"):
        model_of().learn(Rows(x).seek(100), 5000)
    with pytest.warns(UserWarning, match="1 row was skipped. The first: .*row 700"):
        model_of().learn(Rows(x).seek(100), 2000, on_bad="skip")


def test_rows_that_cannot_be_read_are_numbered_from_the_beginning_of_the_stream():
    with pytest.raises(BadRow, match="row 500 has 1 numbers"):
        model_of().learn(Iterated([*X[:500], [1.0], *X[500:900]]).seek(100))


def test_skipped_rows_are_counted_when_a_run_resumes(tmp_path):
    with pytest.warns(UserWarning, match="3 rows were skipped"):
        model_of().learn(Rows(with_bad_rows()), 2000, checkpoint=tmp_path / "run", on_bad="skip")
    with pytest.warns(UserWarning, match="4 rows were skipped"):
        model = model_of().learn(Rows(with_bad_rows()), 12_000, checkpoint=tmp_path / "run", on_bad="skip")
    assert model.n_skipped_ == 7
    model.save(tmp_path / "model")
    assert GaussianNeurons.load(tmp_path / "model").n_skipped_ == 7


def test_rows_of_a_wrong_length_and_items_that_are_not_rows_are_bad():
    items = [*X[:500], [1.0], "text", *X[500:900], [1.0, 2.0, 3.0], *X[900:2000]]
    model = model_of()
    with pytest.raises(BadRow, match="row 500 has 1 numbers, expected 2"):
        model.learn(items)
    assert same(model, model_of().partial_fit(X[:500]))
    with pytest.warns(UserWarning, match="3 rows were skipped"):
        model = model_of().learn(items, on_bad="skip")
    assert (model.centers_ == model_of().partial_fit(X[:2000]).centers_).all()


def test_unparsable_lines_are_bad(tmp_path):
    lines = [",".join(map(repr, row)) for row in X[:3000].tolist()]
    lines.insert(1000, "what,ever")
    lines.insert(2000, "1.0")
    (tmp_path / "rows.csv").write_text("\n".join(lines))
    model = model_of()
    with pytest.raises(BadRow, match=r"row 1000 \(line 1001 of rows.csv\): column '0' holds 'what'"):
        model.learn(rows_from_file(tmp_path / "rows.csv"))
    assert same(model, model_of().partial_fit(X[:1000]))
    with pytest.warns(UserWarning, match="2 rows were skipped"):
        model = model_of().learn(rows_from_file(tmp_path / "rows.csv"), on_bad="skip")
    assert (model.centers_ == model_of().partial_fit(X[:3000]).centers_).all()


def test_rows_with_invalid_widths_are_bad():
    widths = np.full(len(X), 0.01)
    widths[[400, 5000]] = [-1, np.nan]
    items = list(zip(X, widths, strict=True))
    model = model_of(width_learning_rate=0.1)
    with pytest.raises(BadRow, match=r"sample_width must be finite and not negative, got -1.0 at row 400"):
        model.learn(iter(items))
    assert model.n_samples_seen_ == 400
    with pytest.warns(UserWarning, match="2 rows were skipped"):
        model = model_of(width_learning_rate=0.1).learn(items, on_bad="skip")
    good = np.delete(np.arange(len(X)), [400, 5000])
    other = model_of(width_learning_rate=0.1).partial_fit(X[good], sample_width=widths[good])
    assert (model.centers_ == other.centers_).all()


def test_bad_rows_can_come_first():
    for items in (["text", *X[:50]], [None, "x", *X[:50]], [[[1.0]] * 3 + ["x"]] * 2):
        with pytest.warns(UserWarning, match="skipped"):
            model_of().learn(items, on_bad="skip")
    with pytest.warns(UserWarning, match="5,000 rows were skipped"):
        model = model_of().learn([*["bad"] * 5000, *X[:50]], on_bad="skip")
    assert model.n_skipped_ == 5000
    assert model.n_samples_seen_ == 50


def test_rows_before_an_error_of_the_source_are_learned(tmp_path):
    def source():
        yield from X[:3000]
        raise ConnectionError("lost")

    model = model_of()
    with pytest.raises(ConnectionError, match="lost"):
        model.learn(source(), checkpoint=tmp_path / "run")
    assert same(model, model_of().partial_fit(X[:3000]))
    assert same(GaussianNeurons.load(tmp_path / "run"), model)


def test_a_stream_of_bad_rows_only_is_a_warning():
    model = model_of()
    with pytest.warns(UserWarning, match="no row to learn from"), pytest.warns(UserWarning, match="5 rows"):
        model.learn(np.full((5, 2), np.nan), on_bad="skip")
    assert not model.__sklearn_is_fitted__()
    with pytest.warns(UserWarning, match="no row to learn from"):
        model.learn([])


# ---- memory and the progress bar --------------------------------------------------------------------


def test_memory_does_not_grow_with_the_samples():
    code = """
import resource
import numpy as np
from gaussian_neurons import GaussianNeurons
from gaussian_neurons.sampling import Patches
images = np.zeros((100, 28, 28), np.uint8)
model = GaussianNeurons(4, width=1.0, domain=(0, 1), random_state=0)
stream = Patches(images, 5)
peak = []
for n in (200_000, 1_000_000):
    model.learn(stream, n)
    peak.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
print((peak[1] - peak[0]) // 1024)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert int(done.stdout) < 16  # 1,000,000 patches at once would be 95 MiB
    assert done.stderr == ""  # no bar: this is no terminal


def test_learning_prints_nothing_without_a_terminal(capsys):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model_of().learn(X)
    assert capsys.readouterr() == ("", "")


class Terminal(io.StringIO):
    """A standard error that is a terminal."""

    def isatty(self):
        return True


@contextmanager
def terminal():
    """A terminal on which a progress bar appears at once."""
    bar, screen = tqdm.tqdm, Terminal()
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(tqdm, "tqdm", lambda **given: bar(**given | {"delay": 0, "mininterval": 0}))
        patched.setattr(sys, "stderr", screen)
        patched.setenv("COLUMNS", "110")
        yield screen


def test_a_terminal_shows_a_progress_bar():
    with terminal() as screen:
        model_of().learn(Rows(X), 20_000, every=5000)
    text = screen.getvalue()
    assert "samples/s" in text
    assert "20.0k/20.0k" in text
    assert " learned" in text
    assert "<00:0" in text  # time left


def test_a_terminal_shows_that_a_run_resumes(tmp_path):
    def shown(n):
        with terminal() as screen:
            model_of().learn(Rows(X), n, checkpoint=tmp_path / "run")
        return screen.getvalue()

    assert "resuming" not in shown(1000)
    text = shown(2000)
    assert "resuming from" in text
    assert "at 1,000 samples" in text
    assert "nothing to do" in shown(2000)


def test_a_terminal_without_tqdm_shows_how_to_install_it(monkeypatch):
    monkeypatch.setattr(progress, "HINT_AFTER", 0.0)
    monkeypatch.setattr(progress.importlib.util, "find_spec", lambda name: None)
    with terminal() as screen:
        model_of().learn(Rows(X), 20_000, every=1000)
    assert screen.getvalue().count(extras.install("progress")) == 1


# ---- a callback that reads the stream ---------------------------------------------------------------


@pytest.mark.parametrize("kind", ["drawn", "rows", "file"])
def test_a_callback_may_read_the_stream(kind, tmp_path):
    """It reads what comes next, and changes nothing in the run."""
    np.save(tmp_path / "rows.npy", X)
    stream = {"drawn": Mixture(3, seed=1), "rows": Rows(X), "file": rows_from_file(tmp_path / "rows.npy")}[
        kind
    ]
    whole = copy.copy(stream).read(4000)
    alone = model_of().learn(copy.copy(stream), 4000)
    read = []
    beside = model_of().learn(
        stream, 4000, every=1000, callback=lambda _, t: read.append((t, stream.read(2)))
    )
    assert stream.position == 4000
    assert [t for t, _ in read] == [1000, 2000, 3000, 4000]
    for t, rows in read[:-1]:
        np.testing.assert_array_equal(rows, whole[t : t + 2])
    assert same(beside, alone)


def test_another_model_may_learn_from_the_stream_in_a_callback():
    stream, other = Mixture(3, seed=1), model_of()

    def callback(_, t):
        other.learn(stream, 10)

    found = model_of().learn(stream, 5000, every=1000, callback=callback)
    assert stream.position == 5000
    assert same(found, model_of().learn(Mixture(3, seed=1), 5000))
    assert other.n_samples_seen_ == 50


def test_a_callback_may_read_ahead_in_a_generator():
    stream = Iterated(iter(X[:3000]))
    found = model_of().learn(stream, every=1000, callback=lambda _, t: stream.read(5) is None)
    assert same(found, model_of().learn(X[:3000]))


# ---- another thread changes the model -----------------------------------------------------------------


def test_a_run_ends_if_the_model_is_changed_from_elsewhere(tmp_path):
    """Rows of the other call are not counted as rows of the stream, nor written to the checkpoint."""
    model = model_of()

    class Meddling(Rows):
        in_a_thread = False

        def draw(self, first, count):
            if first == 1000:
                model.partial_fit(X[:7])
            return super().draw(first, count)

    stream = Meddling(X, passes=1)
    with pytest.raises(RuntimeError, match="another thread changed the model"):
        model.learn(stream, checkpoint=tmp_path / "run", every=500)
    assert stream.position == 1000
    assert model.n_samples_seen_ == 1007
    assert same(GaussianNeurons.load(tmp_path / "run"), model_of().partial_fit(X[:1000]))


def test_resuming_matches_mappings_by_name(tmp_path):
    def rows(*names):
        return Iterated([{name: row["ab".index(name)] for name in names} for row in X[:1500].tolist()])

    model_of().learn(rows("b", "a"), 700, checkpoint=tmp_path / "run")
    resumed = model_of().learn(rows("a", "b"), 1500, checkpoint=tmp_path / "run")
    assert same(resumed, model_of().learn(rows("b", "a"), 1500))


# ---- streams of the user ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("drawn", "says"),
    [
        (lambda n: np.zeros((n, 2)), "must give a Chunk of an array .* got ndarray"),
        (lambda n: None, "got NoneType"),
        (lambda n: Chunk(np.zeros(n)), r"got a Chunk of ndarray \(100,\)"),
        (lambda n: Chunk([[0.0, 0.0]]), "got a Chunk of list"),
        (lambda n: Chunk(np.zeros((n, 0))), "rows without columns"),
        (lambda n: Chunk(np.ma.masked_equal(np.eye(n), 0)), "masked entry at row 0, column 1"),
    ],
)
def test_a_stream_that_draws_something_else_is_named(drawn, says):
    class Wrong(Stream):
        def draw(self, first, count):
            return drawn(count)

    for use in (lambda: Wrong().read(100), lambda: model_of().learn(Wrong(), 100)):
        with pytest.raises((TypeError, ValueError), match=says):
            use()


def test_a_stream_that_draws_too_many_rows_is_cut():
    class Generous(Stream):
        def draw(self, first, count):
            return Chunk(X[first : first + count + 7])

    assert same(model_of().learn(Generous(), 1000), model_of().learn(X[:1000]))


def test_a_description_that_is_not_json_is_refused_at_once(tmp_path):
    class Odd(Rows):
        def describe(self):
            return {"width": float("nan")}

    model = model_of()
    with pytest.raises(ValueError, match="not described by JSON values"):
        model.learn(Odd(X), 1000, checkpoint=tmp_path / "run")
    assert model._state is None
