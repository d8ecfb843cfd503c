"""Threads: others read a model while one learns, and run while the compiled core computes."""

import itertools
import threading

import numpy as np
import pytest

from gaussian_neurons import GaussianNeurons
from gaussian_neurons.learning import native, reference
from gaussian_neurons.learning.rule import Rule
from tests.runs import X, model_of, same
from tests.waiting import wait_for


class Reader(threading.Thread):
    """Calls a function again and again until it is stopped, or the function fails."""

    def __init__(self, read):
        super().__init__(daemon=True)
        self.read, self.rounds, self.error, self.over = read, 0, None, threading.Event()

    def run(self):
        try:
            while not self.over.is_set():
                self.read()
                self.rounds += 1
        except BaseException as error:
            self.error = error

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        self.join()

    def wait_for_a_round(self):
        """Wait until a round that begins from now on is complete."""
        enough = self.rounds + 2
        wait_for(lambda: self.rounds >= enough or self.error)


def learn(model, between=lambda: None):
    """Learn in pieces of several sizes, with a change of the neurons."""
    ends = (1, 90, 700, 1000, 1001, 1900, 2600, 3300)
    for begin, end in itertools.pairwise(ends):
        model.partial_fit(X[begin:end])
        if end == 1900:
            model.add_neurons(centers=X[:1])
        between()
    return model


@pytest.mark.parametrize("parameters", [{}, {"width": "auto", "domain": None}])
def test_readers_get_whole_answers_and_change_nothing(parameters, tmp_path):
    model, counts = model_of(**parameters).partial_fit(X[:1]), []
    neurons = {8, 9}

    def answers():
        assert model.n_clusters_ <= 9
        assert model.centers_.shape in {(count, 2) for count in neurons}
        assert model.transform(X[:7]).shape in {(7, count) for count in neurons}
        assert len(model.learned_) in neurons
        labels = model.predict(X[:30])
        assert labels.shape == (30,)
        assert labels.min() >= -1
        assert len(model.score_samples(X[:5])) == 5

    def facts():
        counts.append(model.n_samples_seen_)
        recent = len(model.recent_samples_)
        assert min(counts[-1], 1000) <= recent <= min(model.n_samples_seen_, 1000)
        found = model.diagnosis_
        assert len({len(found.learned), len(found.share), len(found.remembered)}) == 1
        assert all(event.center.shape == (2,) for event in model.events_)

    def files():
        model.save(tmp_path / "model")
        loaded = GaussianNeurons.load(tmp_path / "model")
        assert len(loaded.cluster_numbers_) == len(loaded.cluster_centers_) == loaded.n_clusters_
        assert len(loaded.learned_) == len(loaded.centers_) == len(loaded.neuron_clusters_)
        assert len(loaded.recent_samples_) == min(loaded.n_samples_seen_, 1000)

    readers = [Reader(read) for read in (answers, facts, files)]

    def let_them_read():
        for reader in readers:
            reader.wait_for_a_round()

    with readers[0], readers[1], readers[2]:
        learn(model, let_them_read)
    for reader in readers:
        if reader.error:
            raise reader.error
    assert counts == sorted(counts)
    assert model.n_samples_seen_ == 3300
    assert same(model, learn(model_of(**parameters).partial_fit(X[:1])))


def test_other_threads_run_while_the_compiled_core_learns():
    """A thread that could not run would count at most a few times during a call."""
    random = np.random.default_rng(0)
    centers, samples = random.random((16, 25)), np.broadcast_to(random.random(25), (100_000, 25))
    counted = []

    def call():
        before = reader.rounds
        native.learn(centers, np.ones(16), samples, None, Rule(0.1, 0.5), 0)
        counted.append(reader.rounds - before)
        return counted[-1] > 50

    with Reader(lambda: threading.Event().wait(1e-5)) as reader:
        wait_for(call)


@pytest.mark.parametrize("second", ["partial_fit", "learn", "fit", "add_neurons"])
def test_of_two_threads_that_learn_at_once_one_gets_an_error(second):
    """No sample is lost in silence."""
    entered, go_on = threading.Event(), threading.Event()

    def waiting(*arguments):
        entered.set()
        go_on.wait(60)
        return reference.learn(*arguments)

    model, raised = model_of(backend=waiting).place_neurons(2), []

    def first():
        try:
            model.partial_fit(X[:100])
        except RuntimeError as error:
            raised.append(str(error))

    thread = threading.Thread(target=first)
    thread.start()
    assert entered.wait(60)
    model.set_params(backend="reference")
    getattr(model, second)(1 if second == "add_neurons" else X[:50])
    after = model._state
    go_on.set()
    thread.join()
    assert len(raised) == 1
    assert "another thread changed the model" in raised[0]
    assert model._state is after
