"""Sources that go on after an offset: what a checkpoint keeps of them, and what a resumed run reads."""

import copy
import json
import shutil
import signal

import numpy as np
import pytest

from gaussian_neurons import GaussianNeurons
from gaussian_neurons.model import archive
from gaussian_neurons.sampling import Resumable
from tests.runs import X, interrupt_at, model_of, same

START = {"entry": 0}


class Log:
    """A source with an entry for each item, numbered 10, 20, ...; it keeps the offsets it was called with."""

    def __init__(self, items):
        self.items, self.asked = items, []

    def __call__(self, offset):
        self.asked.append(offset)
        for k in range(offset["entry"] // 10, len(self.items)):
            yield self.items[k], {"entry": 10 * k + 10}


def log_of(items):
    return Resumable(Log(items), START)


def test_state_is_the_offset_of_the_last_whole_item_and_the_rows_after_it():
    items = [[0.0, 0.0], [[1.0, 1.0], [2.0, 2.0], [3.0, 3.0]], [], [4.0, 4.0]]
    stream = log_of(items)
    stream.read(5)
    states = [stream.state_at(row) for row in range(6)]
    assert [(state["offset"], state["rows"]) for state in states] == [
        (START, 0),
        ({"entry": 10}, 0),
        ({"entry": 10}, 1),
        ({"entry": 10}, 2),
        ({"entry": 30}, 0),
        ({"entry": 40}, 0),
    ]
    for row, state in enumerate(states):
        again = log_of(items)
        again.resume(row, json.loads(json.dumps(state)))
        assert again.position == row
        assert again.read(9)[:, 0].tolist() == [0, 1, 2, 3, 4][row:]
        assert again._source.asked == [state["offset"]]


def test_stream_goes_back_no_further_than_to_its_last_chunk():
    stream = log_of(list(X[:9]))
    stream.read(5)
    stream.read(4)
    assert np.array_equal(stream.seek(5).read(4), X[5:9])
    with pytest.raises(ValueError, match="cannot go back to row 4: the source has been read up to row 5"):
        stream.seek(4).read(1)


POINTS = list(enumerate(X[:40].tolist(), start=1))
FORMS = {
    "rows": [row for _, row in POINTS],
    "chunks": np.array_split(X[:40], 5),
    "empty items": [row if k % 3 else [] for k, row in POINTS],
    "invalid rows": [row if k % 7 else "error" for k, row in POINTS],
    "single precision, then double": [np.float32(X[0]), *X[1:40]],
    "double precision, then single": [
        row if k < 9 or k % 2 else np.float32(row) for k, row in enumerate(X[:40])
    ],
    "mappings": [{"x": x, "y": y} if k < 9 else {"y": y, "x": x} for k, (x, y) in POINTS],
    "mappings without texts": [{0: x, 1: y} if k < 9 else {1: y, 0: x} for k, (x, y) in POINTS],
    "widths": [(row, 0.01) if k < 9 or k % 5 else row for k, row in POINTS],
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.filterwarnings("ignore:.*skipped")
def test_run_that_is_killed_after_any_checkpoint_learns_each_row_once(tmp_path, form):
    """A killed process leaves a checkpoint: each one of a run is resumed from."""

    def keep(model, t):
        shutil.copy(tmp_path / "run", tmp_path / f"killed{t}")

    whole = model_of().learn(
        log_of(FORMS[form]), checkpoint=tmp_path / "run", every=6, callback=keep, on_bad="skip"
    )
    killed = sorted(tmp_path.glob("killed*"))
    assert len(killed) >= 5
    for path in killed:
        source = Log(FORMS[form])
        assert same(model_of().learn(Resumable(source, START), checkpoint=path, on_bad="skip"), whole)
        (asked,) = source.asked
        assert asked != START or path.name == "killed6"  # a chunk has eight rows


def test_rows_that_the_source_has_deleted_are_not_needed(tmp_path):
    model_of().learn(log_of(list(X[:500])), 300, checkpoint=tmp_path / "run")
    items = [None] * 300 + list(X[300:500])
    resumed = model_of().learn(log_of(items), checkpoint=tmp_path / "run")
    assert same(resumed, model_of().partial_fit(X[:500]))


def test_run_learns_what_has_been_added_since(tmp_path):
    for end in (300, 300, 500):
        model = model_of().learn(log_of(list(X[:end])), checkpoint=tmp_path / "run")
    assert same(model, model_of().partial_fit(X[:500]))


def test_checkpoint_holds_the_rows_when_the_callback_is_called(tmp_path):
    """So that the callback can acknowledge them to their source."""
    held = []

    def acknowledge(model, t):
        assert same(GaussianNeurons.load(tmp_path / "run"), model)
        held.append(archive.read(tmp_path / "run")[1]["run"]["source"]["offset"]["entry"])

    source = Log(list(X[:250]))
    model_of().learn(Resumable(source, START), checkpoint=tmp_path / "run", every=100, callback=acknowledge)
    assert held == [1000, 2000, 2500]


def test_callback_may_read_the_source_and_resume(tmp_path):
    stream = log_of(np.array_split(X[:500], 30))

    def reading(model, t):
        assert np.array_equal(stream.read(30), X[t : t + 30])
        assert np.array_equal(stream.read(30), X[t + 30 : t + 60])

    model = model_of().learn(stream, 200, checkpoint=tmp_path / "run", every=50, callback=reading)
    assert same(model, model_of().partial_fit(X[:200]))
    assert np.array_equal(stream.read(30), X[200:230])
    again = log_of(np.array_split(X[:500], 30))
    resumed = model_of().learn(again, 400, checkpoint=tmp_path / "run", every=50)
    assert same(resumed, model_of().partial_fit(X[:400]))


def test_source_goes_on_after_its_last_offset_if_it_fails():
    failures = [100, 200]
    asked = []

    def failing(offset):
        asked.append(offset)
        for k in range(offset, 300):
            if k in failures:
                failures.remove(k)
                raise ConnectionError(f"lost at {k}")
            yield X[k], k + 1

    stream, model = Resumable(failing, 0), model_of()
    for entry in (100, 200):
        with pytest.raises(ConnectionError, match=f"lost at {entry}"):
            model.learn(stream)
        assert model.n_samples_seen_ == entry
    assert same(model.learn(stream), model_of().partial_fit(X[:300]))
    assert asked == [0, 100, 200]


def test_cell_that_is_run_again_after_an_interrupt_goes_on(tmp_path):
    """The rows that were fetched, but not learned, are not fetched again: a queue would not have them."""
    source = Log([X[:3000], *X[3000:4000]])
    stream, model = Resumable(source, START), model_of()
    with pytest.raises(KeyboardInterrupt), interrupt_at(model, 1500):
        model.learn(stream, checkpoint=tmp_path / "run", every=1000)
    model.learn(stream, checkpoint=tmp_path / "run", every=1000)
    assert same(model, model_of().partial_fit(X[:4000]))
    assert source.asked == [START]


def test_source_that_is_interrupted_goes_on_after_its_last_offset():
    presses = [150]
    asked = []

    def waiting(offset):
        asked.append(offset)
        for k in range(offset, 300):
            if presses == [k]:
                presses.clear()
                signal.raise_signal(signal.SIGINT)
            yield X[k], k + 1

    stream, model = Resumable(waiting, 0), model_of()
    with pytest.raises(KeyboardInterrupt):
        model.learn(stream)
    assert same(model.learn(stream), model_of().partial_fit(X[:300]))
    assert asked == [0, 150]


def test_copy_reads_on_from_where_the_stream_is():
    source = Log(list(X[:20]))
    stream = Resumable(source, START)
    stream.read(5)
    stream.read(5)
    copied = copy.copy(stream)
    assert np.array_equal(copied.read(5), X[10:15])
    assert np.array_equal(stream.read(5), X[10:15])
    assert source.asked == [START, {"entry": 50}]


def test_offset_that_the_source_changes_later_is_kept_as_it_was():
    def partitions(offset):
        for k in range(sum(offset.values()), 10):
            offset[str(k % 2)] += 1
            yield X[k], offset

    stream = Resumable(partitions, {"0": 0, "1": 0})
    stream.read(10)
    assert stream.state_at(3)["offset"] == {"0": 2, "1": 1}


@pytest.mark.parametrize(
    ("pair", "says"),
    [
        ([[1.0, 2.0], 5], r"pairs \(row, offset\), got \[\[1.0, 2.0\], 5\]"),
        (([1.0, 2.0], b"5-1"), "an offset must consist of numbers, strings.* got b'5-1'"),
        (([1.0, 2.0], float("nan")), "got nan"),
    ],
)
def test_invalid_offset_is_refused_before_it_is_learned(pair, says):
    model = model_of()
    with pytest.raises(TypeError, match=says):
        model.learn(Resumable(lambda offset: iter([(X[0], 1), pair]), 0))
    assert model.n_samples_seen_ == 1


def test_column_names_that_a_checkpoint_cannot_keep_are_refused():
    with pytest.raises(ValueError, match=r"row 0: its column names must be strings .* got \(b'x', b'y'\)"):
        model_of().learn(log_of([{b"x": 1.0, b"y": 2.0}]))


@pytest.mark.parametrize(
    "change", [{"rows": "3"}, {"columns": None}, {"columns": [2]}, {"offset": None, "rows": None}]
)
def test_forged_state_of_a_source_is_refused(tmp_path, change):
    model_of().learn(log_of(list(X[:200])), checkpoint=tmp_path / "run")
    arrays, facts = archive.read(tmp_path / "run")
    facts["run"]["source"] |= change
    archive.write(tmp_path / "run", arrays, facts)
    with pytest.raises(ValueError, match=r"a checkpoint of .* cannot hold"):
        model_of().learn(log_of(list(X[:200])), checkpoint=tmp_path / "run")
