"""The guarantees of learning: errors change nothing, interrupts leave whole samples, kills lose nothing.

A state is a value and `commit` assigns it once. So it is enough to test `commit`, the states that learning
passes through, and all moments at which a signal handler can run; two tests with real processes follow.
"""

import inspect
import os
import signal
import subprocess
import sys
from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest

import gaussian_neurons
from gaussian_neurons import GaussianNeurons
from gaussian_neurons.base.bad_rows import BadRow
from gaussian_neurons.learning import backends
from gaussian_neurons.model import run
from gaussian_neurons.model.checkpoint import Checkpoint
from gaussian_neurons.model.learner import commit
from gaussian_neurons.sampling import Iterated, Rows
from gaussian_neurons.views.observers import observing
from tests.model import killed_run
from tests.runs import X, digest, disturb, interrupt_at, model_of, same
from tests.waiting import wait_for

AUTO = {"width": "auto", "domain": None}
MODELS = {"given": {}, "automatic": AUTO, "samples": {"init": "samples", "domain": None}}


class Alarm(Exception):
    """Raised by the handler of another signal than Ctrl-C."""


# ---- commit -----------------------------------------------------------------------------------------


def states_until(error, position):
    """The states 0, 1, 2, with an error before one of them or at the end."""
    for state in range(4):
        if state == position:
            raise error
        if state < 3:
            yield state


def test_the_last_state_is_assigned_once():
    assigned = []
    commit(assigned.append, iter(range(3)))
    assert assigned == [2]
    commit(assigned.append, iter(()))
    assert assigned == [2]


@pytest.mark.parametrize("position", range(4))
@pytest.mark.parametrize("error", [Alarm(), BadRow(0, ""), MemoryError()])
def test_an_error_assigns_nothing(error, position):
    assigned = []
    with pytest.raises(type(error)):
        commit(assigned.append, states_until(error, position))
    assert assigned == []


@pytest.mark.parametrize("position", range(4))
@pytest.mark.parametrize("error", [KeyboardInterrupt(), SystemExit()])
def test_an_interrupt_assigns_the_last_state_before_it(error, position):
    assigned = []
    with pytest.raises(type(error)):
        commit(assigned.append, states_until(error, position))
    assert assigned == [position - 1] * (position > 0)


@pytest.mark.parametrize("parameters", MODELS.values(), ids=MODELS)
def test_every_state_on_the_way_is_that_of_a_shorter_stream(parameters, monkeypatch):
    monkeypatch.setattr(backends, "WORK_AT_ONCE", 1e6)  # a few hundred samples in a block
    model, states = model_of(**parameters), []
    with observing(model, states.append):
        model.partial_fit(X[: 1400 if parameters is AUTO else 3300])
    assert len(states) > 3
    for state in states:
        if state.network is not None:
            whole = model_of(**parameters).partial_fit(X[: state.received])
            model._state = state
            assert same(model, whole), state.received


@pytest.mark.parametrize("parameters", MODELS.values(), ids=MODELS)
def test_a_bad_row_leaves_the_state_as_it_was(parameters):
    for before, row in ((0, 500), (0, 1500), (300, 2000), (2000, 1900), (2500, 0)):
        model = model_of(**parameters)
        if before:
            model.partial_fit(X[:before])
        state, rows = model._state, X[before : before + 4000].copy()
        rows[row, 1] = np.nan
        with pytest.raises(BadRow, match=f"row {row}, column 1"):
            model.partial_fit(rows)
        assert model._state is state


# ---- signals at every moment ------------------------------------------------------------------------

PACKAGE = Path(gaussian_neurons.__file__).parent
WITH_STATE = tuple(str(PACKAGE / part) for part in ("estimator.py", "model", "base", "sampling"))


class Moments:
    """Count the moments at which Python can run a signal handler in the package; at one, send a signal.

    Python runs handlers when a function begins and when a compiled function returns; a profiler is called
    at both. The beginning of a generator is left out: a profiler's error would skip the clean-up in it. Code
    that only computes, such as the clustering, is left out too.
    """

    def __init__(self, number=None, at=None):
        self.number, self.at, self.places = number, at, []

    def __enter__(self):
        sys.setprofile(self.see)
        return self

    def __exit__(self, *_):
        sys.setprofile(None)

    def see(self, frame, event, _):
        code = frame.f_code
        begins = event == "call" and not code.co_flags & inspect.CO_GENERATOR
        if (begins or event == "c_return") and code.co_filename.startswith(WITH_STATE):
            self.places.append((code, frame.f_lineno, event))
            if len(self.places) - 1 == self.at:
                signal.raise_signal(self.number)

    def first_and_last(self):
        """The first and the last moment at each place."""
        first = {place: at for at, place in reversed(list(enumerate(self.places)))}
        last = {place: at for at, place in enumerate(self.places)}
        return sorted({*first.values(), *last.values()})


@pytest.fixture
def alarm():
    """A signal whose handler raises an ordinary error."""

    def handler(number, frame):
        raise Alarm

    before = signal.signal(signal.SIGUSR1, handler)
    yield signal.SIGUSR1
    signal.signal(signal.SIGUSR1, before)


@lru_cache
def whole(name, samples):
    """The digest of a model that learned so many samples without a break."""
    return digest(model_of(**MODELS[name]).partial_fit(X[:samples]))


def moments(act, new=tuple):
    """The moments of an act that are worth a signal; `new` gives new arguments for each time."""
    act(*new())  # what is cached afterwards is not computed again
    arguments = new()
    with Moments() as found:
        act(*arguments)
    return found.first_and_last()


N = 1200  # samples: more than the first data


def chunks(rows):
    """An iterable that gives 100 rows at a time."""
    return Iterated(rows[begin : begin + 100] for begin in range(0, len(rows), 100))


@pytest.mark.parametrize(("how", "source"), [("interrupt", Rows), ("interrupt", chunks), ("alarm", Rows)])
def test_a_signal_at_any_moment_of_learn_leaves_model_and_stream_in_step(how, source, alarm):
    number = signal.SIGINT if how == "interrupt" else alarm

    def new():
        return model_of(), source(X)

    def learn(model, stream):
        model.learn(stream, N, every=500)

    for at in moments(learn, new):
        model, stream = new()
        with pytest.raises((KeyboardInterrupt, Alarm)), Moments(number, at):
            learn(model, stream)
        reached = 0 if model._state is None else model.n_samples_seen_
        assert stream.position == reached
        model.learn(stream, N - reached)
        assert digest(model) == whole("given", N), at


@pytest.mark.parametrize("how", ["interrupt", "alarm"])
def test_a_signal_at_any_moment_of_partial_fit_leaves_whole_samples(how, alarm):
    number = signal.SIGINT if how == "interrupt" else alarm
    for at in moments(lambda model: model.partial_fit(X[:N]), lambda: [model_of()]):
        model = model_of()
        with pytest.raises((KeyboardInterrupt, Alarm)), Moments(number, at):
            model.partial_fit(X[:N])
        reached = 0 if model._state is None else model.n_samples_seen_
        assert how == "interrupt" or reached in (0, N)
        if reached < N:
            model.partial_fit(X[reached:N])
        assert digest(model) == whole("given", N), at


@pytest.mark.parametrize("how", ["interrupt", "alarm"])
def test_a_signal_at_any_moment_of_fit_leaves_a_whole_model(how, alarm):
    number = signal.SIGINT if how == "interrupt" else alarm
    model, rows = model_of(max_samples=1500), X[:500]
    before, after = model.fit(rows[:50])._state, digest(model_of(max_samples=1500).fit(rows))
    for at in moments(lambda: model.fit(rows)):
        model._state = before
        with pytest.raises((KeyboardInterrupt, Alarm)), Moments(number, at):
            model.fit(rows)
        if model._state is not before:
            assert digest(model) == after or how == "interrupt"
            assert 0 < model.n_samples_seen_ <= 1500
            assert len(model.predict(rows)) == 500


@pytest.mark.parametrize("how", ["interrupt", "alarm"])
@pytest.mark.parametrize(("name", "seen"), [("given", 500), ("samples", 500), ("automatic", 1500)])
def test_a_signal_at_any_moment_of_a_change_leaves_it_done_or_not_done(how, name, seen, alarm):
    number = signal.SIGINT if how == "interrupt" else alarm
    model = model_of(**MODELS[name]).partial_fit(X[:seen])
    before = model._state
    for change in (
        lambda: model.add_neurons(1),
        lambda: model.move_neurons(0, width=0.02),
        lambda: model.remove_neurons([1]),
    ):
        model._state = before
        change()
        after = digest(model)
        for at in moments(change):
            model._state = before
            with pytest.raises((KeyboardInterrupt, Alarm)), Moments(number, at):
                change()
            assert model._state is before or digest(model) == after, at


@pytest.mark.parametrize("name", ["given", "automatic"])
def test_a_handler_that_reads_the_model_at_every_moment_changes_nothing(name):
    model, seen = model_of(**MODELS[name]), []

    def read(number, frame):
        if model._state is not None:
            seen.append(model.n_samples_seen_)
            assert model.n_clusters_ == len(model.cluster_centers_) == len(model.cluster_numbers_)
            assert len(model.predict(X[:5])) == 5

    class Every(Moments):
        def see(self, frame, event, _):
            self.at = len(self.places)
            super().see(frame, event, _)

    before = signal.signal(signal.SIGUSR1, read)
    try:
        with Every(signal.SIGUSR1):
            model.learn(Rows(X), N, every=300)
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert seen == sorted(seen)
    assert {900, N} <= set(seen)
    assert digest(model) == whole(name, N)


@pytest.mark.parametrize("step", ["_save", "_leave"])
def test_a_second_interrupt_while_a_run_ends_leaves_model_and_stream_in_step(step, tmp_path, monkeypatch):
    original = getattr(run._Run, step)
    monkeypatch.setattr(os, "fsync", lambda file: None)  # takes long

    def stop(model, t):
        raise KeyboardInterrupt

    def ended(at, folder):
        """A run that is interrupted at 900 samples, and once more while it ends."""
        folder.mkdir()
        model, stream, found = model_of(), Rows(X), Moments(signal.SIGINT, at)

        def watched(self, *arguments):
            if found.places or self.taken < 900:
                return original(self, *arguments)
            with found:
                return original(self, *arguments)

        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(run._Run, step, watched)
            with pytest.raises(KeyboardInterrupt):
                model.learn(stream, N, every=900, callback=stop, checkpoint=folder / "run")
        return model, stream, found

    *_, found = ended(None, tmp_path / "once")
    assert found.places
    for at in found.first_and_last():
        model, stream, _ = ended(at, tmp_path / str(at))
        assert stream.position == model.n_samples_seen_ == 900
        model.learn(stream, N - 900)
        assert digest(model) == whole("given", N)


# ---- runs that go on --------------------------------------------------------------------------------


def test_an_interrupt_in_a_run_is_kept_in_its_checkpoint(tmp_path):
    model, stream = model_of(), Rows(X)
    with pytest.raises(KeyboardInterrupt), interrupt_at(model, 5000):
        model.learn(stream, 10**10, checkpoint=tmp_path / "run", every=10**9)
    assert same(GaussianNeurons.load(tmp_path / "run"), model)
    reached = stream.position
    model.learn(stream, reached + 1000, checkpoint=tmp_path / "run")  # the same objects
    other = model_of().learn(Rows(X), reached + 1000, checkpoint=tmp_path / "run")  # new ones
    rows = np.resize(X, (reached + 1000, 2))
    assert digest(model) == digest(other) == digest(model_of().partial_fit(rows))


@pytest.mark.parametrize("before", [False, True])
def test_an_interrupt_at_a_callback_calls_it_again(before, tmp_path):
    """Interrupted in the callback, or after learning and before the callback."""
    calls, stops = [], [3000, 5000]

    def stop(t):
        if t in stops:
            stops.remove(t)
            raise KeyboardInterrupt

    def callback(model, t):
        if not before:
            stop(t)
        calls.append(t)

    def cell():
        model.learn(stream, 5000, checkpoint=tmp_path / "run", every=1000, callback=callback)

    with pytest.MonkeyPatch.context() as patched:
        if before:
            patched.setattr(run.Bar, "advance", lambda self, samples: stop(model.n_samples_seen_))
        model, stream = model_of(), Rows(X)
        for _ in range(2):
            with pytest.raises(KeyboardInterrupt):
                cell()
        model, stream = model_of(), Rows(X)  # new objects
        cell()
    assert calls == [1000, 2000, 3000, 4000, 5000]
    assert same(model, model_of().learn(Rows(X), 5000))


def test_a_run_stopped_by_its_callback_stays_stopped_if_the_checkpoint_was_interrupted(tmp_path):
    calls = []

    def callback(model, t):
        calls.append(t)
        return t == 1000

    def cell():
        model.learn(stream, 5000, checkpoint=tmp_path / "run", every=1000, callback=callback)

    model, stream = model_of(), Rows(X)
    # The first checkpoint is written before the callback.
    with pytest.raises(KeyboardInterrupt), disturb(Checkpoint, "write", KeyboardInterrupt(), call=2):
        cell()
    cell()
    assert calls == [1000]
    assert model.n_samples_seen_ == stream.position == 1000


# ---- real processes ---------------------------------------------------------------------------------


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_a_process_that_is_killed_or_interrupted_resumes_with_the_same_bits(number, tmp_path):
    path = tmp_path / "run"
    command = [sys.executable, "-m", "tests.model.killed_run", str(path)]
    with subprocess.Popen(
        command, cwd=Path(__file__).parents[2], stderr=subprocess.PIPE, text=True
    ) as process:
        wait_for(path.exists)
        process.send_signal(number)
        _, errors = process.communicate()
    assert process.returncode == -number
    assert number == signal.SIGKILL or errors.endswith("KeyboardInterrupt\n")
    reached = GaussianNeurons.load(path).n_samples_seen_
    assert reached > 0
    resumed = killed_run.learn(path, reached + 10_000)
    assert same(resumed, killed_run.learn(None, reached + 10_000))
    assert [left.name for left in tmp_path.iterdir()] == ["run"]
