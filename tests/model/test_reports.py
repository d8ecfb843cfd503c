"""What `learn` reports: each event and each novel row once, in order, also over interrupts and restarts."""

import numpy as np
import pytest

from gaussian_neurons import GaussianNeurons
from gaussian_neurons.model import run
from gaussian_neurons.sampling import Resumable
from tests.runs import interrupt_at, same

PLACES = np.array([[0.0, 0.0], [0.0, 6.0], [6.0, 0.0], [9.0, 9.0]])
RANDOM = np.random.default_rng(3)
KINDS = np.concatenate([RANDOM.integers(2, size=2500), RANDOM.integers(4, size=2500)])
X = RANDOM.normal(PLACES[KINDS], 0.3)
RATE = 0.02


class Reports(list):
    """The reports of a run, as comparable tuples."""

    def event(self, event):
        self.append((event.samples, event.kind, event.cluster, event.center.tobytes()))

    def novel(self, novel):
        assert novel.score < novel.threshold
        self.append((novel.samples, "novel", novel.row.tobytes(), novel.score))

    def given(self):
        return {"on_event": self.event, "on_novel": self.novel, "false_alarms": RATE}


class Killed(Reports):
    """Reports that end the run with an error after a certain one."""

    def __init__(self, stop):
        super().__init__()
        self.stop = stop

    def append(self, report):
        super().append(report)
        if report == self.stop:
            raise ArithmeticError


def model_of():
    return GaussianNeurons(random_state=0)


@pytest.fixture(scope="module")
def whole():
    """The reports of a run without a break, and its model."""
    reports = Reports()
    return reports, model_of().learn(X, **reports.given())


def test_events_are_those_of_the_model(whole):
    reports, model = whole
    events = [(e.samples, e.kind, e.cluster, e.center.tobytes()) for e in model.events_]
    assert [one for one in reports if one[1] != "novel"] == events
    assert sum(one[1] == "born" and one[0] > 2500 for one in reports) >= 2
    assert same(model, model_of().learn(X))
    assert same(model, model_of().partial_fit(X))


def test_a_row_is_novel_if_it_is_before_it_is_learned(whole):
    model, expected = model_of().partial_fit(X[:1000]), []
    for k in range(1000, len(X)):
        if model.is_novel(X[k : k + 1], RATE)[0]:
            expected.append((k, "novel", X[k].tobytes(), model.score_samples(X[k : k + 1])[0]))
        model.partial_fit(X[k : k + 1])
    found = [one for one in whole[0] if one[1] == "novel"]
    assert found == expected
    assert X[2500:2600][KINDS[2500:2600] > 1].size <= 2 * sum(2500 <= one[0] < 2600 for one in found)


@pytest.mark.parametrize("size", [1, 137, 2000])
def test_reports_do_not_depend_on_how_rows_arrive(whole, size):
    reports = Reports()
    model = model_of().learn([X[k : k + size] for k in range(0, len(X), size)], **reports.given())
    assert reports == whole[0]
    assert same(model, whole[1])


def log(offset):
    for k in range(offset, len(X)):
        yield X[k], k + 1


def test_nothing_is_lost_and_nothing_is_saved_before_its_report(whole, tmp_path, monkeypatch):
    monkeypatch.setattr(run, "SECONDS", 0.05)
    path, reports, restarts = tmp_path / "run", Reports(), 0
    stops = iter([whole[0][k] for k in (0, 3, 9, 10, len(whole[0]) - 1)])
    stop = next(stops)

    while True:
        turn = Killed(stop)
        model = model_of()
        try:
            model.learn(Resumable(log, 0), checkpoint=path, **turn.given())
        except ArithmeticError:  # after the report, before anything else
            assert not path.exists() or GaussianNeurons.load(path).n_samples_seen_ <= stop[0]
            stop, restarts = next(stops, None), restarts + 1
            reports += turn
            continue
        reports += turn
        break
    assert restarts == 5
    assert [one for k, one in enumerate(reports) if one not in reports[:k]] == whole[0]
    assert same(model, whole[1])


def test_reports_are_complete_and_made_once_after_an_interrupt(whole, tmp_path):
    path, reports, model = tmp_path / "run", Reports(), model_of()
    given = {"checkpoint": path, "on_event": reports.event}
    with pytest.raises(KeyboardInterrupt), interrupt_at(model, 3100):
        model.learn(X, **given)
    model_of().learn(X, **given)
    assert reports == [one for one in whole[0] if one[1] != "novel"]


def test_events_of_an_earlier_run_are_not_reported_again(whole):
    reports, model = Reports(), model_of().learn(X[:3000])
    before = len(model.events_)
    model.learn(X[3000:], on_event=reports.event)
    assert before > 0
    assert reports == [one for one in whole[0] if one[1] != "novel"][before:]


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"on_event": 1}, "on_event must be a function"),
        ({"on_novel": "x"}, "on_novel must be a function"),
        ({"on_novel": print, "false_alarms": 2.0}, "false_alarms must be"),
    ],
)
def test_wrong_arguments_are_refused_before_learning(given, says):
    model = model_of()
    with pytest.raises(ValueError, match=says):
        model.learn(X, **given)
    assert not model.__sklearn_is_fitted__()
