"""Ctrl-C and other handlers: no row is lost, none is learned twice."""

import itertools
import os
import signal

import numpy as np
import pytest

from gaussian_neurons import GaussianNeurons
from gaussian_neurons.base import interrupts, progress
from gaussian_neurons.base.bad_rows import BadRow
from gaussian_neurons.clustering import ladder
from gaussian_neurons.clustering.numbering import Clusters
from gaussian_neurons.model import archive as persistence
from gaussian_neurons.model import learner
from gaussian_neurons.model import run as training
from gaussian_neurons.model.checkpoint import Checkpoint
from gaussian_neurons.model.learner import Learner
from gaussian_neurons.sampling import Iterated, Rows
from tests.runs import X, comes, interrupt_after, learns, model_of, same

# An interrupt that hits Python's own clean-up after a thread is ignored by Python, which says so.
LOST = "ignore:Exception ignored in.*WeakSet:pytest.PytestUnraisableExceptionWarning"
pytestmark = [pytest.mark.alone, pytest.mark.filterwarnings(LOST)]


@pytest.mark.parametrize("source", ["seekable", "iterable"])
def test_an_interrupt_loses_nothing(source, tmp_path):
    endless = Rows(X) if source == "seekable" else Iterated(itertools.cycle(X))
    model = model_of()
    with pytest.raises(KeyboardInterrupt), interrupt_after(0.5, learns(model)):
        model.learn(endless, 10**10, checkpoint=tmp_path / "run", every=10**9)
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
            with pytest.raises(KeyboardInterrupt), interrupt_after(random.uniform(0.001, 0.03)):
                model.learn(stream, 10**10, every=every)
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

    stream = Rows(X)
    model = model_of(n_neurons=40).learn(stream, 1)  # an interrupt may come before the next
    before = signal.signal(signal.SIGINT, handler)
    try:
        if raises:
            with pytest.raises(raises), interrupt_after(0.05):
                model.learn(stream, 10**10)
        else:
            with interrupt_after(0.05):
                model.learn(stream, 10**10, every=1000, callback=lambda m, t: bool(hits) and t >= 100_000)
    finally:
        signal.signal(signal.SIGINT, before)
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
    try:
        with pytest.raises(BadRow, match="row 8999"), comes("Ctrl-C", ladder, "steps"):
            model.partial_fit(rows)
    finally:
        signal.signal(signal.SIGINT, before)
    assert len(hits) == 1
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
    model = model_of()
    with pytest.raises(KeyboardInterrupt), interrupt_after(0.3, learns(model)):
        model.learn(Rows(X), 10**10, checkpoint=tmp_path / "run", every=10**9)
    reached = GaussianNeurons.load(tmp_path / "run").n_samples_seen_
    model = model_of().learn(Rows(X), reached + 5000, checkpoint=tmp_path / "run", every=10**9)
    assert same(model, model_of().learn(Rows(X), reached + 5000))


# ---- in the middle of other things ------------------------------------------------------------------


@pytest.mark.parametrize("how", ["Ctrl-C", "alarm"])
@pytest.mark.parametrize("width", ["auto", 0.01])
@pytest.mark.parametrize("seen", [500, 3000])
def test_neurons_are_removed_or_not(how, width, seen):
    """Also of a model that waits for its first data, and of a ladder, which becomes one layer."""

    def fitted():
        return GaussianNeurons(8, width=width, random_state=0).partial_fit(X[:seen])

    model = fitted()
    with pytest.raises(KeyboardInterrupt), comes(how, Clusters, "of_neurons"):
        model.remove_neurons([1])
    assert same(model, fitted() if how == "alarm" else fitted().remove_neurons([1]))
    assert len(model.centers_) == (8 if how == "alarm" else 7)
    assert model.n_clusters_ >= 0


@pytest.mark.parametrize("call", [1, 2])
def test_an_interrupt_at_the_end_of_a_run_leaves_the_stream_where_learning_ended(call):
    model, stream = model_of(), Rows(X)
    kept = []
    with comes("alarm", training._Run, "_tell_skipped", call):
        try:
            model.learn(stream, 5000, every=1000, callback=lambda model, t: True)
        except KeyboardInterrupt as error:
            kept.append(error)  # as a notebook keeps it, and with it all that it was in
    assert len(kept) == 1
    assert stream.position == model.n_samples_seen_ == 1000
    stream.helper.join(20)
    assert not stream.helper.is_alive()
    assert same(model.learn(stream, 500), model_of().partial_fit(X[:1500]))


def test_a_stop_is_kept_though_its_checkpoint_was_interrupted(tmp_path):
    told = []

    def callback(model, t):
        told.append(t)
        return t == 1000

    def cell():
        model.learn(stream, 5000, checkpoint=tmp_path / "run", every=1000, callback=callback)

    model, stream = model_of(), Rows(X)
    with (
        pytest.raises(KeyboardInterrupt),
        comes("alarm", Checkpoint, "write", 2),
    ):  # the first is before the callback
        cell()
    cell()
    assert told == [1000]
    assert model.n_samples_seen_ == stream.position == 1000


def test_an_interrupt_while_a_run_is_taken_up_leaves_model_and_stream_in_step(tmp_path):
    model_of().learn(Rows(X), 1000, checkpoint=tmp_path / "run")
    model, stream = model_of(), Rows(X)
    with pytest.raises(KeyboardInterrupt), comes("Ctrl-C", GaussianNeurons, "_restore"):
        model.learn(stream, 3000, checkpoint=tmp_path / "run")
    assert model.n_samples_seen_ == stream.position == 1000
    model.learn(stream, 3000, checkpoint=tmp_path / "run")
    assert same(model, model_of().partial_fit(X[:3000]))


def test_an_interrupt_before_the_first_row_leaves_the_model_that_was():
    model = model_of().fit(X[:1000])
    before, labels = persistence.digest(*model._contents()), model.labels_.copy()
    for call in (model.fit, model.partial_fit):
        with pytest.raises(KeyboardInterrupt), comes("alarm", Learner, "learn"):
            call(X)
        assert persistence.digest(*model._contents()) == before
        assert (model.labels_ == labels).all()


def test_an_interrupt_while_the_first_data_is_placed_can_be_looked_at_and_carried_on(tmp_path):
    def cell():
        model.learn(stream, 3000, checkpoint=tmp_path / "run")

    model, stream = GaussianNeurons(8, random_state=0), Rows(X)
    with pytest.raises(KeyboardInterrupt), comes("Ctrl-C", learner, "prepare"):
        cell()
    assert model.n_samples_seen_ == stream.position == 1000
    assert model.n_clusters_ == GaussianNeurons(8, random_state=0).partial_fit(X[:1000]).n_clusters_
    cell()
    assert same(model, GaussianNeurons(8, random_state=0).partial_fit(X[:3000]))


def test_ctrl_c_is_heard_again_where_an_alarm_kept_a_block_from_ending():
    def left_half_way():
        interrupts.held_back().__enter__()
        signal.raise_signal(signal.SIGINT)  # waits

    before = signal.getsignal(signal.SIGINT)
    left_half_way()
    assert signal.getsignal(signal.SIGINT) is not before
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is before


def test_an_interrupt_in_an_inner_block_waits_for_the_outer_one():
    noted = []

    def nested():
        with interrupts.held_back() as outer:
            with interrupts.held_back() as inner:
                signal.raise_signal(signal.SIGINT)
                noted.append((len(inner), len(outer)))
            noted.append((len(inner), len(outer)))

    with pytest.raises(KeyboardInterrupt):
        nested()
    assert noted == [(1, 0), (1, 1)]
