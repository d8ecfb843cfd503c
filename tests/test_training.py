"""Learning from streams: callbacks, checkpoints, crashes, full disks, bad rows; and as partial_fit learns."""

import contextlib
import errno
import gc
import itertools
import os
import resource
import signal
import subprocess
import sys
import threading
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gaussian_neurons import GaussianNeurons, persistence, progress
from gaussian_neurons.bad_rows import BadRow
from gaussian_neurons.datasets.synthetic import Mixture
from gaussian_neurons.sampling import Iterated, Neighbourhoods, Patches, Rows, rows_from_file

IMAGES = np.random.default_rng(0).integers(0, 256, (20, 12, 12), np.uint8)
X = Mixture(6, seed=1, dtype=np.float64).read(12_000)


def model_of(**parameters):
    return GaussianNeurons(
        **{"n_neurons": 8, "width": 0.01, "domain": (0, 1), "random_state": 0} | parameters
    )


def same(one, other):
    """Bit for bit, with everything needed to learn on."""
    return persistence.digest(*one._contents()) == persistence.digest(*other._contents())


@pytest.fixture(autouse=True)
def interrupts_are_not_swallowed():
    """What hypothesis hooks into the garbage collector is Python code whose interrupts Python ignores."""
    hooks = gc.callbacks[:]
    gc.callbacks.clear()
    yield
    gc.callbacks[:] = hooks


# ---- the same as partial_fit ------------------------------------------------------------------------


@pytest.mark.parametrize("parameters", [{}, {"width": "auto", "domain": None}, {"init": "samples"}])
def test_learning_from_a_stream_is_learning_from_its_rows(parameters):
    rows = model_of(**parameters).partial_fit(X)
    for source in (X, Rows(X, passes=1), X.tolist(), iter(X), (X[k : k + 17] for k in range(0, len(X), 17))):
        assert same(model_of(**parameters).learn(source), rows)


def test_widths_of_the_samples_are_learned():
    stream = Neighbourhoods(IMAGES, 5, 0.1, seed=3)
    means, widths = stream.read(20_000)
    given_rows = model_of(width=10.0, width_learning_rate=0.1).partial_fit(means, sample_width=widths)
    model = model_of(width=10.0, width_learning_rate=0.1).learn(stream.seek(0), 20_000)
    assert same(model, given_rows)
    assert (model.widths_ != 10).any()
    assert model.centers_.dtype == np.float32


@given(cuts=st.lists(st.integers(1, 5000), min_size=1, max_size=4), every=st.integers(50, 5000))
def test_however_learning_is_cut_the_bits_are_the_same(cuts, every):
    stream = Patches(IMAGES, 3, seed=1)
    model = model_of(width=1.0)
    for cut in cuts:
        model.learn(stream, cut, every=every)
    assert stream.position == sum(cuts)
    assert same(model, model_of(width=1.0).partial_fit(Patches(IMAGES, 3, seed=1).read(sum(cuts))))


def test_the_instruction_set_does_not_change_what_is_drawn_only_rounding_does():
    """The samples are the same bits; see test_samplers. Here: learning goes on from where a stream stands."""
    stream = Patches(IMAGES, 3, seed=1).seek(1000)
    model = model_of(width=1.0).learn(stream, 500)
    assert model.n_samples_seen_ == 500
    assert same(model, model_of(width=1.0).partial_fit(Patches(IMAGES, 3, seed=1).seek(1000).read(500)))


def test_a_stream_that_ends_is_learned_whole_and_says_so_where_more_was_asked():
    assert model_of().learn(Rows(X, passes=1)).n_samples_seen_ == len(X)
    with pytest.warns(UserWarning, match="the stream ended after 12,000 of 20,000 samples"):
        model_of().learn(Rows(X, passes=1), 20_000)


def test_an_endless_stream_needs_a_number():
    with pytest.raises(ValueError, match="never ends: say how many samples"):
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
def test_wrong_arguments_are_refused_before_anything_is_learned(arguments, says):
    model = model_of()
    with pytest.raises(ValueError, match=says):
        model.learn(X, **arguments)
    assert not model.__sklearn_is_fitted__()


def test_wrong_parameters_and_columns_leave_the_model_as_it_was():
    model = model_of(width=-1.0)
    with pytest.raises(ValueError, match="width"):
        model.learn(X)
    assert not model.__sklearn_is_fitted__()
    model = model_of().learn(X)
    before = persistence.digest(*model._contents())
    with pytest.raises(ValueError, match="the stream has 3 columns, but the model learned from 2"):
        model.learn(np.zeros((5, 3)))
    with pytest.raises(ValueError, match="sample_width is needed"):
        model.set_params(width_learning_rate=0.1).learn(X)
    assert persistence.digest(*model.set_params(width_learning_rate=0.0)._contents()) == before


def test_nothing_is_learned_from_nothing():
    model = model_of()
    model.learn(Patches(IMAGES, 3), 0)
    assert not model.__sklearn_is_fitted__()


# ---- callbacks --------------------------------------------------------------------------------------


def test_the_callback_is_told_every_so_many_samples_and_at_the_end():
    told = []
    model = model_of().learn(
        Rows(X), 2500, every=1000, callback=lambda m, t: told.append((m.n_samples_seen_, t))
    )
    assert told == [(1000, 1000), (2000, 2000), (2500, 2500)]
    told.clear()
    model.learn(Rows(X), 2000, every=1000, callback=lambda m, t: told.append((m.n_samples_seen_, t)))
    assert told == [(3500, 1000), (4500, 2000)]


def test_the_callback_can_stop():
    stream = Rows(X)
    model = model_of().learn(stream, 10_000, every=500, callback=lambda _, t: t >= 1500)
    assert model.n_samples_seen_ == 1500
    assert stream.position == 1500


def test_only_true_stops():
    told = []
    for answer in (X, "yes", 1, None, model_of()):
        model = model_of().learn(
            Rows(X), 200, every=100, callback=lambda m, t, answer=answer: told.append(t) or answer
        )
        assert model.n_samples_seen_ == 200
    assert (
        model_of().learn(Rows(X), 200, every=100, callback=lambda m, t: np.bool_(True)).n_samples_seen_ == 100
    )


def test_numbers_like_1e3_are_whole():
    assert model_of().learn(Rows(X), 1e3, every=5e2).n_samples_seen_ == 1000


def test_frames_keep_their_names():
    frame = pd.DataFrame(X, columns=["x", "y"])
    model = model_of().learn(frame)
    assert model.feature_names_in_.tolist() == ["x", "y"]
    model.predict(frame)
    with pytest.raises(ValueError, match=r"the columns are \['y', 'x'\]"):
        model.learn(frame[["y", "x"]])


def test_a_stream_given_to_fit_is_told_where_it_belongs():
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


def test_an_error_in_the_callback_reaches_the_caller_and_the_model_is_valid():
    def broken(model, t):
        raise RuntimeError("plot window closed")

    model, stream = model_of(), Rows(X)
    with pytest.raises(RuntimeError, match="plot window closed"):
        model.learn(stream, 5000, every=1000, callback=broken)
    assert model.n_samples_seen_ == stream.position == 1000


# ---- interrupts -------------------------------------------------------------------------------------


class interrupt_after:
    """Interrupts the main thread; once more where Python swallowed it, as it does in finalizers."""

    def __init__(self, seconds):
        self.over = threading.Event()
        self.thread = threading.Thread(target=self.work, args=(seconds,), daemon=True)
        self.thread.start()

    def work(self, seconds):
        time.sleep(seconds)
        signal.raise_signal(signal.SIGINT)
        while not self.over.wait(5):
            signal.raise_signal(signal.SIGINT)

    def join(self):
        self.over.set()
        self.thread.join()


@pytest.mark.parametrize("source", ["seekable", "iterable"])
def test_an_interrupt_loses_nothing(source, tmp_path):
    endless = Rows(X) if source == "seekable" else Iterated(itertools.cycle(X))
    model = model_of()
    timer = interrupt_after(0.5)
    with pytest.raises(KeyboardInterrupt):
        model.learn(endless, 10**10, checkpoint=tmp_path / "run", every=10**9)
    timer.join()
    assert model.n_samples_seen_ == endless.position > 0
    kept = GaussianNeurons.load(tmp_path / "run")
    assert same(kept, model)
    more = model.learn(endless, 1000)
    rows = np.resize(X, (more.n_samples_seen_, X.shape[1]))
    assert same(more, model_of().partial_fit(rows))


@pytest.mark.parametrize("source", ["seekable", "iterable"])
def test_interrupts_at_random_moments_leave_model_and_stream_in_step(source):
    """Every row before the interrupt is learned, once, and kept as it would be without the interrupt."""
    random = np.random.default_rng(4)
    for every in (300, 10**9) * 6:
        stream = Rows(X) if source == "seekable" else Iterated(itertools.cycle(X))
        model = model_of().learn(stream, 1)
        for _ in range(3):
            timer = interrupt_after(random.uniform(0.001, 0.03))
            with pytest.raises(KeyboardInterrupt):
                model.learn(stream, 10**10, every=every)
            timer.join()
            assert stream.position == model.n_samples_seen_
        assert same(model, model_of().partial_fit(np.resize(X, (stream.position, 2))))


@pytest.mark.parametrize("raises", [None, RuntimeError])
def test_handlers_of_ones_own_lose_no_row_either(raises):
    """One that only takes note, as asyncio's does, and one that raises an ordinary error."""
    hits = []

    def handler(number, frame):
        hits.append(frame)
        if raises:
            raise raises("stop")

    model, stream = model_of(n_neurons=40), Rows(X)
    before = signal.signal(signal.SIGINT, handler)
    timer = interrupt_after(0.05)
    try:
        if raises:
            with pytest.raises(raises):
                model.learn(stream, 10**10)
        else:
            model.learn(stream, 10**10, every=1000, callback=lambda m, t: bool(hits) and t >= 100_000)
    finally:
        signal.signal(signal.SIGINT, before)
        timer.join()
    assert hits
    assert model._learner.received == model.n_samples_seen_ == stream.position
    assert same(model, model_of(n_neurons=40).partial_fit(np.resize(X, (stream.position, 2))))


def test_a_bad_row_after_an_interrupt_that_was_only_noted_changes_nothing():
    hits = []
    model = model_of(n_neurons=500).partial_fit(X[:10_000])
    rows = X[:9000].copy()
    rows[-1] = np.nan
    contents = persistence.digest(*model._contents())
    before = signal.signal(signal.SIGINT, lambda number, frame: hits.append(frame))
    timer = interrupt_after(0.05)
    try:
        with pytest.raises(BadRow, match="row 8999"):
            model.partial_fit(rows)
    finally:
        signal.signal(signal.SIGINT, before)
        timer.join()
    assert hits, "learning was over before the interrupt came"
    assert persistence.digest(*model._contents()) == contents


@pytest.mark.parametrize("where", ["in", "before"])
def test_an_interrupt_at_a_mark_is_followed_by_the_callback(where, tmp_path, monkeypatch):
    """The callback hears of every mark, and the same objects or new ones carry on from there."""
    told, stops = [], [3000, 5000]

    def callback(model, t):
        if where == "in" and t in stops:
            stops.remove(t)
            raise KeyboardInterrupt
        told.append(t)

    def advance(self, samples):
        if where == "before" and model.n_samples_seen_ in stops:
            stops.remove(model.n_samples_seen_)
            raise KeyboardInterrupt

    monkeypatch.setattr(progress.Bar, "advance", advance)
    model, stream = model_of(), Rows(X)

    def cell():
        model.learn(stream, 5000, checkpoint=tmp_path / "run", every=1000, callback=callback)

    with pytest.raises(KeyboardInterrupt):
        cell()
    with pytest.raises(KeyboardInterrupt):
        cell()  # the same objects
    model, stream = model_of(), Rows(X)
    cell()  # new ones
    assert told == [1000, 2000, 3000, 4000, 5000]
    assert same(model, model_of().learn(Rows(X), 5000))


def test_the_checkpoint_stays_where_it_was_meant(tmp_path, monkeypatch):
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path)
    model_of().learn(
        Rows(X), 3000, checkpoint="run", every=1000, callback=lambda m, t: os.chdir(tmp_path / "other")
    )
    assert sorted(path.name for path in tmp_path.iterdir()) == ["other", "run"]
    assert not list((tmp_path / "other").iterdir())


def test_what_a_killed_writer_left_is_swept(tmp_path):
    (tmp_path / ".run.0123abcd.tmp").touch()
    (tmp_path / ".other.0123abcd.tmp").touch()
    model_of().learn(Rows(X), 100, checkpoint=tmp_path / "run")
    assert sorted(path.name for path in tmp_path.iterdir()) == [".other.0123abcd.tmp", "run"]


def test_a_bad_row_after_neurons_were_added_changes_nothing():
    model = model_of().partial_fit(X[:1000]).add_neurons(centers=X[:2])
    before = persistence.digest(*model._contents())
    with pytest.raises(BadRow):
        model.partial_fit([[np.nan, 1.0]])
    assert persistence.digest(*model._contents()) == before


def test_an_interrupted_run_carries_on(tmp_path):
    timer = interrupt_after(0.3)
    with pytest.raises(KeyboardInterrupt):
        model_of().learn(Rows(X), 10**10, checkpoint=tmp_path / "run", every=10**9)
    timer.join()
    reached = GaussianNeurons.load(tmp_path / "run").n_samples_seen_
    model = model_of().learn(Rows(X), reached + 5000, checkpoint=tmp_path / "run", every=10**9)
    assert same(model, model_of().learn(Rows(X), reached + 5000))


# ---- checkpoints ------------------------------------------------------------------------------------


def test_the_same_command_again_does_nothing_more(tmp_path):
    told = []

    def run():
        stream = Rows(X)
        model = model_of().learn(
            stream, 5000, checkpoint=tmp_path / "run", every=1000, callback=lambda m, t: told.append(t)
        )
        assert stream.position == 5000
        return model

    first = run()
    written = (tmp_path / "run").stat().st_mtime_ns
    again = run()
    assert same(first, again)
    assert told == [1000, 2000, 3000, 4000, 5000]
    assert (tmp_path / "run").stat().st_mtime_ns == written


def test_a_cell_that_is_run_again_goes_on(tmp_path):
    """The model and the stream are still there, as after Ctrl-C in a notebook."""
    model, stream = model_of(), Rows(X).seek(100)

    def cell(n):
        model.learn(stream, n, checkpoint=tmp_path / "run", every=1000)

    timer = interrupt_after(0.2)
    with pytest.raises(KeyboardInterrupt):
        cell(10**9)
    timer.join()
    reached = model.n_samples_seen_
    cell(reached + 3000)
    cell(reached + 3000)  # there is nothing left to do
    assert stream.position == 100 + reached + 3000
    assert same(model, model_of().learn(Rows(X).seek(100), reached + 3000))
    model.learn(stream, 10)  # something else happened to it
    with pytest.raises(ValueError, match="belongs to another run"):
        cell(reached + 5000)


def test_a_run_can_be_extended(tmp_path):
    model_of().learn(Rows(X), 3000, checkpoint=tmp_path / "run")
    longer = model_of().learn(Rows(X), 7000, checkpoint=tmp_path / "run")
    assert same(longer, model_of().learn(Rows(X), 7000))
    with pytest.raises(ValueError, match="has come to 7,000 samples already, 100 are asked for"):
        model_of().learn(Rows(X), 100, checkpoint=tmp_path / "run")


def test_a_run_that_the_callback_ended_stays_ended(tmp_path):
    for _ in range(2):
        model = model_of().learn(
            Rows(X), 10_000, checkpoint=tmp_path / "run", every=1000, callback=lambda _, t: t == 3000
        )
        assert model.n_samples_seen_ == 3000


def test_what_the_callback_changed_is_carried_on(tmp_path):
    def run(n):
        def change(model, t):
            if t == 2000:
                model.add_neurons(2).set_params(inhibition=0.3)

        return model_of().learn(Rows(X), n, checkpoint=tmp_path / f"run{n}", every=1000, callback=change)

    whole = run(6000)
    run(3000)
    os.rename(tmp_path / "run3000", tmp_path / "run6000")
    carried_on = run(6000)
    assert same(whole, carried_on)
    assert carried_on.inhibition == 0.3
    assert len(carried_on.centers_) == 10


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"stream": lambda: Rows(X, shuffle=True)}, "its stream shuffle was False, here it is True"),
        ({"stream": lambda: Rows(X[:-1])}, "its stream rows is another one"),
        ({"stream": lambda: Rows(X).seek(5)}, "its position was 0, here it is 5"),
        ({"model": lambda: model_of(inhibition=0.25)}, "its parameters inhibition was 0.5, here it is 0.25"),
        ({"model": lambda: model_of(init=np.zeros((8, 2)))}, "its parameters init was 'uniform'"),
        ({"model": lambda: model_of().learn(X[:10])}, "its model had learned nothing before"),
    ],
)
def test_the_checkpoint_of_another_run_is_refused(tmp_path, change, says):
    model_of().learn(Rows(X), 2000, checkpoint=tmp_path / "run")
    before = (tmp_path / "run").read_bytes()
    parts = {"stream": lambda: Rows(X), "model": model_of} | change
    model = parts["model"]()
    contents = persistence.digest(*model._contents()) if model.__sklearn_is_fitted__() else None
    with pytest.raises(ValueError, match=f"belongs to another run: {says}"):
        model.learn(parts["stream"](), 3000, checkpoint=tmp_path / "run")
    assert (tmp_path / "run").read_bytes() == before
    assert (persistence.digest(*model._contents()) if contents else None) == contents


def test_phases_with_a_file_each_carry_on(tmp_path):
    """First the one stream, then the other: as Subfigures 2f and 2g."""

    def both(stop=None):
        model = model_of()
        model.learn(Rows(X[:5000]), 4000, checkpoint=tmp_path / "first")
        if stop:
            model.learn(Rows(X[5000:]), stop, checkpoint=tmp_path / "second")
        return model.learn(Rows(X[5000:]), 4000, checkpoint=tmp_path / "second") if not stop else model

    both(stop=1500)
    carried_on = both()
    assert same(carried_on, model_of().learn(Rows(X[:5000]), 4000).learn(Rows(X[5000:]), 4000))


def test_a_random_model_carries_on_as_itself(tmp_path):
    first = model_of(random_state=None).learn(Rows(X), 2000, checkpoint=tmp_path / "run")
    second = model_of(random_state=None).learn(Rows(X), 2000, checkpoint=tmp_path / "run")
    assert same(first, second)


def test_a_saved_model_is_no_run_but_a_checkpoint_is_a_model(tmp_path):
    model = model_of().learn(Rows(X), 2000, checkpoint=tmp_path / "run")
    assert same(GaussianNeurons.load(tmp_path / "run"), model)
    model.save(tmp_path / "model")
    with pytest.raises(ValueError, match=r"no run to carry on: save\(\) wrote it"):
        model_of().learn(Rows(X), 3000, checkpoint=tmp_path / "model")


def test_a_damaged_checkpoint_is_refused_and_left_alone(tmp_path):
    model_of().learn(Rows(X), 2000, checkpoint=tmp_path / "run")
    whole = (tmp_path / "run").read_bytes()
    for damaged in (whole[:-10], whole[:100], b"", whole[:-1] + bytes([whole[-1] ^ 1])):
        (tmp_path / "run").write_bytes(damaged)
        with pytest.raises(ValueError, match="run"):
            model_of().learn(Rows(X), 3000, checkpoint=tmp_path / "run")
        assert (tmp_path / "run").read_bytes() == damaged


def test_files_carry_on_at_their_row(tmp_path):
    lines = [",".join(map(repr, row)) for row in X.tolist()]
    (tmp_path / "rows.csv").write_text("\n".join(lines[:7000]) + "\n")
    model_of().learn(rows_from_file(tmp_path / "rows.csv"), checkpoint=tmp_path / "run")
    (tmp_path / "rows.csv").write_text("\n".join(lines) + "\n")  # the file has grown
    model = model_of().learn(rows_from_file(tmp_path / "rows.csv"), checkpoint=tmp_path / "run")
    assert same(model, model_of().partial_fit(X))
    (tmp_path / "rows.csv").write_text("\n".join(lines[::-1]) + "\n")
    with pytest.raises(ValueError, match="its stream file is another one"):
        model_of().learn(rows_from_file(tmp_path / "rows.csv"), checkpoint=tmp_path / "run")


def test_an_iterable_carries_on_after_what_was_learned(tmp_path):
    model_of().learn(iter(X), 5000, checkpoint=tmp_path / "run")
    model = model_of().learn(iter(X), 9000, checkpoint=tmp_path / "run")
    assert same(model, model_of().partial_fit(X[:9000]))


# ---- crashes ----------------------------------------------------------------------------------------


def start(folder, samples, every):
    command = [sys.executable, "-m", "tests.killed_run", str(folder / "run"), str(samples), str(every)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, cwd=Path(__file__).parents[1], text=True)


def test_killed_twenty_times_it_ends_in_the_same_bits(tmp_path):
    """A real process, killed at random moments, twenty times and more, while it learns and writes."""
    samples, every = 2_000_000, 5_000
    (tmp_path / "whole").mkdir()
    (tmp_path / "killed").mkdir()
    with start(tmp_path / "whole", samples, 10**9) as undisturbed:
        assert "ends" in undisturbed.stdout.read()
    random = np.random.default_rng(8)
    kills, reached = 0, [0]
    while kills < 22:
        with start(tmp_path / "killed", samples, every) as process:
            assert process.stdout.readline() == "begins\n"
            time.sleep(random.uniform(0, 0.12))
            process.send_signal(signal.SIGKILL)
            ended = "ends" in process.stdout.read()
        assert not ended, "it ended before it was killed often enough"
        kills += 1
        if (tmp_path / "killed" / "run").exists():
            reached.append(GaussianNeurons.load(tmp_path / "killed" / "run").n_samples_seen_)
    assert reached == sorted(reached)
    assert len(set(reached)) > 10
    with start(tmp_path / "killed", samples, every) as process:
        assert "ends 2000000" in process.stdout.read()
    one, other = (GaussianNeurons.load(tmp_path / name / "run") for name in ("whole", "killed"))
    assert same(one, other)
    assert [path.name for path in (tmp_path / "killed").iterdir()] == ["run"]  # no litter


# ---- disks ------------------------------------------------------------------------------------------


def failing_from(monkeypatch, number, error):
    """From its n-th call on, writing fails."""
    calls = itertools.count(1)
    write = persistence.write

    def failing(*arguments):
        if next(calls) >= number:
            raise error
        write(*arguments)

    monkeypatch.setattr(persistence, "write", failing)


FULL = OSError(errno.ENOSPC, "No space left on device")


def test_a_full_disk_stops_the_run_and_the_last_checkpoint_stays(tmp_path, monkeypatch):
    failing_from(monkeypatch, 4, FULL)
    model = model_of()
    with pytest.raises(OSError, match=r"cannot be written.*No space left.*on_write_error='warn'") as caught:
        model.learn(Rows(X), 10_000, checkpoint=tmp_path / "run", every=1000)
    assert caught.value.errno == errno.ENOSPC
    assert model.n_samples_seen_ == 4000
    assert GaussianNeurons.load(tmp_path / "run").n_samples_seen_ == 3000
    monkeypatch.undo()
    carried_on = model_of().learn(Rows(X), 10_000, checkpoint=tmp_path / "run", every=1000)
    assert same(carried_on, model_of().learn(Rows(X), 10_000))


def test_a_full_disk_is_reported_and_the_run_goes_on_if_wanted(tmp_path, monkeypatch):
    failing_from(monkeypatch, 4, FULL)
    with pytest.warns(RuntimeWarning, match="cannot be written.*going on without it") as caught:
        model = model_of().learn(
            Rows(X), 10_000, checkpoint=tmp_path / "run", every=1000, on_write_error="warn"
        )
    assert len(caught) == 7
    assert same(model, model_of().learn(Rows(X), 10_000))
    assert GaussianNeurons.load(tmp_path / "run").n_samples_seen_ == 3000


def test_a_file_system_that_is_really_full(tmp_path):
    """/dev/full would do for one file; a limit on the size of files is the same for a temporary one."""
    if not hasattr(resource, "RLIMIT_FSIZE"):
        pytest.skip("no limits on file sizes here")
    model_of().learn(Rows(X), 1000, checkpoint=tmp_path / "run")
    good = (tmp_path / "run").read_bytes()
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, before[1]))
        with pytest.raises(OSError, match="cannot be written"):
            model_of().learn(Rows(X), 5000, checkpoint=tmp_path / "run", every=1000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)
    assert (tmp_path / "run").read_bytes() == good
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


def test_a_folder_that_is_not_there_is_told_before_anything_is_learned(tmp_path):
    model = model_of()
    with pytest.raises(OSError, match=r"the folder .* does not exist; make it first.*Nothing is learned yet"):
        model.learn(Rows(X), 5000, checkpoint=tmp_path / "none" / "run")
    assert not model.__sklearn_is_fitted__()
    with pytest.raises(OSError, match="is a folder"):
        model.learn(Rows(X), 5000, checkpoint=tmp_path)
    with pytest.warns(RuntimeWarning, match="cannot be written"):
        model.learn(Rows(X), 2000, checkpoint=tmp_path / "none" / "run", on_write_error="warn")
    assert model.n_samples_seen_ == 2000


# ---- bad rows ---------------------------------------------------------------------------------------

HOLES = np.array([0, 1, 700, 5000, 5001, 5002, 11_999])


def with_holes():
    x = X.copy()
    x[HOLES, 1] = [np.nan, np.inf, np.nan, -np.inf, np.nan, np.nan, np.nan]
    return x


@pytest.mark.parametrize("parameters", [{}, {"width": "auto", "domain": None}])
def test_a_bad_row_is_named_and_everything_before_it_is_learned(parameters, tmp_path):
    x = with_holes()[2:]
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
    clean = model_of(**parameters).partial_fit(np.delete(X, HOLES, axis=0))
    for source in (Rows(with_holes(), passes=1), Iterated(with_holes())):
        model = model_of(**parameters)
        with pytest.warns(UserWarning, match=r"7 rows were skipped. The first: .*row 0.*row 1.*row 700"):
            model.learn(source, on_bad="skip")
        assert (model.centers_ == clean.centers_).all()
        assert model.n_samples_seen_ == len(X) - 7
        assert model.n_skipped_ == 7
        assert source.position == len(X)


def test_bad_rows_are_numbered_from_the_beginning_of_the_stream():
    x = with_holes()
    with pytest.raises(BadRow, match="row 700"):
        model_of().learn(Rows(x).seek(100), 5000)
    with pytest.warns(UserWarning, match="1 row was skipped. The first: .*row 700"):
        model_of().learn(Rows(x).seek(100), 2000, on_bad="skip")


def test_skipped_rows_are_counted_over_a_crash(tmp_path):
    with pytest.warns(UserWarning, match="3 rows were skipped"):
        model_of().learn(Rows(with_holes()), 2000, checkpoint=tmp_path / "run", on_bad="skip")
    with pytest.warns(UserWarning, match="4 rows were skipped"):
        model = model_of().learn(Rows(with_holes()), 12_000, checkpoint=tmp_path / "run", on_bad="skip")
    assert model.n_skipped_ == 7
    model.save(tmp_path / "model")
    assert GaussianNeurons.load(tmp_path / "model").n_skipped_ == 7


def test_rows_of_a_wrong_length_and_no_rows_at_all_are_bad():
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


def test_widths_that_are_none_make_a_row_bad():
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


def test_bad_rows_may_come_first():
    for items in (["text", *X[:50]], [None, "x", *X[:50]], [[[1.0]] * 3 + ["x"]] * 2):
        with pytest.warns(UserWarning, match="skipped"):
            model_of().learn(items, on_bad="skip")
    with pytest.warns(UserWarning, match="5,000 rows were skipped"):
        model = model_of().learn([*["bad"] * 5000, *X[:50]], on_bad="skip")
    assert model.n_skipped_ == 5000
    assert model.n_samples_seen_ == 50


def test_a_source_that_fails_keeps_what_came_before(tmp_path):
    def source():
        yield from X[:3000]
        raise ConnectionError("lost")

    model = model_of()
    with pytest.raises(ConnectionError, match="lost"):
        model.learn(source(), checkpoint=tmp_path / "run")
    assert same(model, model_of().partial_fit(X[:3000]))
    assert same(GaussianNeurons.load(tmp_path / "run"), model)


def test_a_stream_of_nothing_but_bad_rows_teaches_nothing():
    model = model_of()
    with pytest.warns(UserWarning, match="no row to learn from"), pytest.warns(UserWarning, match="5 rows"):
        model.learn(np.full((5, 2), np.nan), on_bad="skip")
    assert not model.__sklearn_is_fitted__()
    with pytest.warns(UserWarning, match="no row to learn from"):
        model.learn([])


# ---- memory and the bar -----------------------------------------------------------------------------


def test_memory_stays_flat_however_many_samples():
    code = """
import resource
import numpy as np
from gaussian_neurons import GaussianNeurons
from gaussian_neurons.sampling import Patches
images = np.zeros((100, 28, 28), np.uint8)
model = GaussianNeurons(4, width=1.0, domain=(0, 1), random_state=0)
stream = Patches(images, 5)
peak = []
for n in (200_000, 4_000_000):
    model.learn(stream, n)
    peak.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
print((peak[1] - peak[0]) // 1024)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert int(done.stdout) < 16  # 4,000,000 patches at once would be 381 MiB
    assert done.stderr == ""  # no bar: this is no terminal


def test_learning_is_quiet_where_nobody_looks(capsys):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model_of().learn(X)
    assert capsys.readouterr() == ("", "")


def seen_on_a_terminal(code):
    """What a program writes to its standard error if that is a terminal of 30 x 110 characters."""
    pty, termios = pytest.importorskip("pty"), pytest.importorskip("termios")
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (30, 110))
    written = b""
    with subprocess.Popen([sys.executable, "-c", code], stderr=theirs) as process:
        os.close(theirs)
        with contextlib.suppress(OSError):  # the other end is closed
            while data := os.read(ours, 4096):
                written += data
    os.close(ours)
    assert process.returncode == 0
    return written.decode()


def test_a_terminal_sees_a_bar():
    text = seen_on_a_terminal("""
from gaussian_neurons import GaussianNeurons
from gaussian_neurons.datasets.synthetic import Mixture
model = GaussianNeurons(60, width=0.008, domain=(0, 1), random_state=0)
model.learn(Mixture(6, seed=1), 2_000_000)
""")
    assert "samples/s" in text
    assert "2.00M/2.00M" in text
    assert "6 learned" in text
    assert "<00:0" in text  # time left


def test_a_terminal_is_told_that_a_run_carries_on(tmp_path):
    code = f"""
from gaussian_neurons import GaussianNeurons
from gaussian_neurons.datasets.synthetic import Mixture
model = GaussianNeurons(5, width=0.008, domain=(0, 1), random_state=0)
model.learn(Mixture(6, seed=1), NUMBER, checkpoint={str(tmp_path / "run")!r})
"""
    assert "carrying on" not in seen_on_a_terminal(code.replace("NUMBER", "1000"))
    assert "at 1,000 samples" in seen_on_a_terminal(code.replace("NUMBER", "2000"))
    assert "nothing to do" in seen_on_a_terminal(code.replace("NUMBER", "2000"))


def test_a_terminal_without_the_extra_is_told_where_a_bar_is_to_be_had():
    text = seen_on_a_terminal("""
import sys
sys.modules["tqdm"] = None
from gaussian_neurons import GaussianNeurons, progress
from gaussian_neurons.datasets.synthetic import Mixture
progress.PATIENCE = 0.0
progress.importlib.util.find_spec = lambda name: None
GaussianNeurons(5, width=0.008, domain=(0, 1), random_state=0).learn(Mixture(6, seed=1), 100_000)
""")
    assert text.count("pip install 'gaussian-neurons[progress]'") == 1
