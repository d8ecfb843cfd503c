"""Ctrl-C and other handlers: no row is lost, none is learned twice."""

import itertools
import os
import signal

import numpy as np
import pytest

from gaussian_neurons import GaussianNeurons, persistence, progress
from gaussian_neurons.bad_rows import BadRow
from gaussian_neurons.sampling import Iterated, Rows
from tests.runs import X, interrupt_after, model_of, same

# An interrupt that hits Python's own clean-up after a thread is ignored by Python, which says so.
LOST = "ignore:Exception ignored in.*WeakSet:pytest.PytestUnraisableExceptionWarning"
pytestmark = [pytest.mark.alone, pytest.mark.filterwarnings(LOST)]


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
