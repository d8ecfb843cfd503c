"""The run: when it learns, what it is told, and what it tells."""

import threading
import time
from dataclasses import replace

import numpy as np
import pytest

from gaussian_neurons import GaussianNeurons
from tests.live.pages import until
from tests.live.serving import MIXTURE, STRIPES, asked, served
from tests.waiting import PATIENCE, wait_for


@pytest.fixture
def tab(plain_tab):
    return plain_tab


def test_a_tab_is_told_everything_it_needs(stripes):
    with stripes.tab() as tab:
        welcome = tab.next("welcome")
        assert [preset["name"] for preset in welcome["presets"]][1] == "figure2a"
        scene = tab.next("scene")
        assert scene["mode"] == "image"
        assert scene["patch"] == [4, 4, 1]
        assert scene["classes"] == [{"value": 0, "name": "level"}, {"value": 1, "name": "upright"}]
        assert tab.next("history")["points"] is not None
        frame = tab.frame(where=lambda frame: frame["seen"] > 0)
        assert frame["centers"].shape == (6, 16)
        assert frame["centers"].dtype == np.uint8


def test_pause_really_pauses_and_a_step_is_one_sample(tab):
    tab.send("pause")
    seen = tab.frame(where=lambda frame: frame["state"] == "paused")["seen"]
    for k in range(3):
        tab.send("step")
        assert tab.frame(where=lambda frame, k=k: frame["seen"] > seen + k)["seen"] == seen + k + 1
    with pytest.raises(TimeoutError):  # nothing changes, nothing is told
        tab.socket.recv(timeout=0.3)
    tab.send("resume")
    assert tab.frame(where=lambda frame: frame["seen"] > seen + 3)["state"] == "running"


def test_a_speed_is_kept(stripes, tab):
    tab.send("set", name="speed", value=500)
    tab.next("scene", where=lambda scene: scene["setup"]["speed"] == 500)
    begin, first = time.monotonic(), stripes.ask(lambda trial: trial.seen)
    time.sleep(1.0)
    last = until(stripes, lambda trial: trial.seen > first and trial.seen)
    assert last - first < 2 * 500 * (time.monotonic() - begin)  # the pace itself is tested by hand


def test_the_same_seed_begins_with_the_same_neurons_and_a_new_one_does_not(tab):
    tab.send("pause")
    tab.frame(where=lambda frame: frame["state"] == "paused")
    starts = []
    for seed in ("same", "same", "new"):
        tab.send("reset", seed=seed)
        tab.next("scene")
        starts.append(tab.frame(where=lambda frame: frame["seen"] == 0)["centers"])
    assert (starts[0] == starts[1]).all()
    assert (starts[0] != starts[2]).any()


def test_numbers_that_run_away_are_told_and_mended(tab, monkeypatch):
    def runs_away(trial, most):
        raise FloatingPointError("the numbers ran away: lower the learning_rate.")

    with monkeypatch.context() as patched:
        patched.setattr("gaussian_neurons.live.trial.Trial.learn", runs_away)
        failed = tab.frame(where=lambda frame: frame["state"] == "failed")
    assert "lower the learning_rate" in failed["trouble"]
    assert len(failed["ids"]) == 6
    tab.send("set", name="eta", value=0.05)
    assert tab.frame(where=lambda frame: frame["state"] == "running" and frame["seen"] > failed["seen"])


def test_learning_stops_when_nobody_watches_and_goes_on(stripes):
    with stripes.tab() as tab:
        tab.send("resume")
        tab.frame(where=lambda frame: frame["seen"] > 0)
    run = stripes.page.run
    wait_for(lambda: not run.watching)
    seen = stripes.ask(lambda trial: trial.seen)
    time.sleep(0.2)
    assert stripes.ask(lambda trial: trial.seen) == seen
    with stripes.tab() as tab:
        assert tab.frame(where=lambda frame: frame["seen"] > seen)


def test_two_tabs_watch_one_run(stripes, tab):
    with stripes.tab() as other:
        other.next("scene")
        tab.send("remove", neuron=3)
        assert other.next("mark", where=lambda mark: "removed" in mark["text"])["text"] == "μ₃ removed"
        assert other.frame(where=lambda frame: 3 not in frame["ids"])
        other.send("pause")
        assert tab.frame(where=lambda frame: frame["state"] == "paused")


def test_a_link_is_followed_at_once_where_nobody_else_watches(stripes):
    wait_for(lambda: not stripes.page.run.watching)
    with stripes.tab(setup={**STRIPES.told(), "K": 9}, link=True) as alone:
        assert alone.next("scene")["setup"]["K"] == 9
        generation = alone.frame(where=lambda frame: len(frame["ids"]) == 9)["generation"]
        with stripes.tab(setup={"K": 4}, link=True) as second:
            assert second.next("question")["setup"]["K"] == 4
            assert second.frame()["generation"] == generation
        with stripes.tab(setup={**STRIPES.told(), "K": 9}, link=True) as same:
            assert same.frame()["generation"] == generation
        with stripes.tab(setup={"K": 1_000_000}, link=True) as wrong:
            assert "K (neurons) must be" in wrong.next("notice")["text"]
            assert wrong.frame()["generation"] == generation


def test_a_server_started_anew_takes_up_what_a_tab_remembers():
    remembered = {"link": False, "run": "before"}
    with served(STRIPES) as fresh, fresh.tab(setup={**STRIPES.told(), "K": 5}, **remembered) as back:
        assert back.next("scene", where=lambda scene: scene["setup"]["K"] == 5)
        with fresh.tab(setup={**STRIPES.told(), "K": 7}, **remembered) as later:
            assert later.next("scene")["setup"]["K"] == 5


def test_a_neuron_in_the_hand_of_a_tab_that_goes_is_let_go():
    with served(MIXTURE) as one, one.tab() as tab:
        tab.frame(where=lambda frame: frame["seen"] > 0)
        with one.tab() as hand:
            hand.send("move", neuron=2, to=[0.3, 0.4])
            held = hand.frame(where=lambda frame: np.allclose(frame["centers"][1], [0.3, 0.4]))
            assert held
        assert tab.frame(where=lambda frame: not np.allclose(frame["centers"][1], [0.3, 0.4]))


def test_moves_on_their_way_become_one_and_the_neuron_is_let_go():
    with served(MIXTURE) as one, one.tab() as tab:
        tab.frame(where=lambda frame: frame["seen"] > 0)
        tab.send("pause")
        tab.frame(where=lambda frame: frame["state"] == "paused")
        rest = threading.Event()
        one.page.run.ask(lambda trial: rest.wait(PATIENCE))  # the run is busy
        for k in range(100):
            tab.send("move", neuron=2, to=[0.3, k / 100])
        tab.send("release")
        tab.send("move", neuron=3, to=[0.6, 0.6])
        tab.send("move", neuron=4, to=[0.8, 0.8])
        tab.send("move", neuron=3, to=[0.7, 0.7])
        tab.send("release")
        time.sleep(0.3)
        rest.set()
        wanted = [[0.3, 0.99], [0.7, 0.7], [0.8, 0.8]]
        tab.frame(where=lambda frame: np.allclose(frame["centers"][1:4], wanted))
        wait_for(lambda: one.ask(lambda trial: trial.held) == one.page.run._last == {})


def test_points_that_are_painted_while_the_run_is_busy_are_all_there():
    with served(MIXTURE) as one, one.tab() as tab:
        before = len(tab.next("points")["points"])
        rest = threading.Event()
        one.page.run.ask(lambda trial: rest.wait(PATIENCE))
        painted = [[k / 500, 0.5] for k in range(500)]
        for point in painted:
            tab.send("paint", points=[point])
        time.sleep(0.3)
        rest.set()
        told = []
        while len(told) < len(painted):
            message = tab.next("points", "notice")
            assert message["type"] == "points"  # nothing was left out
            assert message["first"] == before + len(told)
            told += message["points"].tolist()
        assert told == painted


def test_a_neuron_that_was_let_go_on_the_way_can_be_taken_again():
    with served(MIXTURE) as one, one.tab() as tab:
        tab.frame(where=lambda frame: frame["seen"] > 0)
        rest = threading.Event()
        one.page.run.ask(lambda trial: rest.wait(PATIENCE))
        tab.send("move", neuron=2, to=[0.3, 0.3])
        tab.send("release")
        tab.send("move", neuron=2, to=[0.4, 0.4])
        time.sleep(0.3)
        rest.set()
        wait_for(lambda: one.ask(lambda trial: trial.held) == {2: (0.4, 0.4)})


def test_painted_points_stay_when_it_starts_again():
    with served(MIXTURE) as one, one.tab() as tab:
        before = len(tab.next("points")["points"])
        tab.send("paint", points=[[0.5, 0.5]])
        for seed in ("same", "new"):
            tab.send("reset", seed=seed)
            whole = tab.next("points", where=lambda message: message["first"] == 0)
            assert whole["points"][before:].tolist() == [[0.5, 0.5]]
            assert whole["painted"].sum() == 1
        assert "# here points were added by hand" in asked(one, "/script.py")[2].decode()
        tab.send("unpaint")
        assert len(tab.next("points", where=lambda message: message["first"] == 0)["points"]) == before
        tab.send("paint", points=[[0.2, 0.2]])
        assert tab.next("points")["first"] == before


def test_figure_1_waits_and_has_a_sample_to_see():
    with served(MIXTURE) as one, one.tab() as tab:
        tab.send("preset", name="figure1")
        frame = tab.frame(where=lambda frame: frame["seen"] == 1 and frame["state"] == "paused")
        assert frame["samples"].tolist() == [[0.3, 0.7]]
        assert np.abs(frame["centers"][1] - [0.7, 0.3]).max() < 0.01
        tab.send("reset", seed="same")
        again = tab.frame(where=lambda other: other["generation"] > frame["generation"])
        assert again["seen"] == 1
        assert again["state"] == "paused"
        assert len(again["samples"]) == 1


def test_figure_1_waits_by_a_link_too():
    with (
        served(MIXTURE) as one,
        one.tab(setup=one.page.run.presets["figure1"].setup.told(), link=True) as tab,
    ):
        frame = tab.frame()
        assert (frame["state"], frame["seen"]) == ("paused", 1)


@pytest.mark.parametrize("setup", [MIXTURE, replace(MIXTURE, n_neurons=5)])
def test_who_was_paused_stays_so_when_the_server_comes_back(setup):
    with served(MIXTURE) as one, one.tab(setup=setup.told(), run="before", paused=True) as tab:
        assert tab.frame()["state"] == "paused"
        with one.tab(setup=setup.told(), run="before", paused=False) as other:
            assert other.frame()["state"] == "paused"  # the first that comes has the say
            other.send("resume")
            assert other.frame(where=lambda frame: frame["seen"] > 100)["state"] == "running"
        with one.tab(setup=setup.told(), run=one.page.run.name, paused=True):
            assert tab.frame(where=lambda frame: frame["seen"] > 200)["state"] == "running"


def test_a_neuron_that_another_tab_removed_is_let_go_without_a_word():
    with served(MIXTURE) as one, one.tab() as tab:
        tab.send("remove", neuron=2)
        tab.frame(where=lambda frame: len(frame["ids"]) == MIXTURE.n_neurons - 1)
        tab.send("move", neuron=2, to=[0.5, 0.5])
        tab.send("look", neuron=1)
        assert tab.next("look", "notice")["type"] == "look"


def test_points_are_painted_by_message():
    with served(MIXTURE) as one, one.tab() as tab:
        before = len(tab.next("points")["points"])
        tab.send("paint", points=[[0.5, 0.5], [0.6, 0.6]])
        painted = tab.next("points", where=lambda message: message["first"] == before)
        assert painted["points"].tolist() == [[0.5, 0.5], [0.6, 0.6]]
        assert painted["painted"].tolist() == [1, 1]
        tab.send("noise", count=30)
        assert len(tab.next("points", where=lambda message: message["first"] == before + 2)["points"]) == 30
        with one.tab() as later:
            whole = later.next("points")
            assert whole["first"] == 0
            assert whole["painted"].tolist() == [0] * before + [1] * 32
        tab.send("paint", points=[[50.0, 0.5]])
        assert "too far away" in tab.next("notice")["text"]
        tab.send("unpaint")
        assert tab.next("points", where=lambda message: len(message["points"]) == before)


def test_the_model_and_the_script_can_be_saved(stripes, tab, tmp_path):
    tab.frame(where=lambda frame: frame["seen"] > 2000)
    status, headers, body = asked(stripes, "/model.safetensors")
    assert status == 200
    assert "attachment" in headers["content-disposition"]
    (tmp_path / "m.safetensors").write_bytes(body)
    model = GaussianNeurons.load(tmp_path / "m.safetensors")
    assert model.n_samples_seen_ > 2000
    assert len(model.centers_) == 6
    status, _, text = asked(stripes, "/script.py")
    assert status == 200
    compile(text, "script", "exec")


def test_looking_at_a_neuron_gives_its_strongest_patches(tab):
    tab.frame(where=lambda frame: frame["seen"] > 2000)
    tab.send("look", neuron=1)
    look = tab.next("look")
    assert look["neuron"] == 1
    assert look["patches"].shape == (6, 16)
    assert (np.diff(look["responses"]) <= 0).all()
    tab.send("look", neuron=77)  # one that is gone: nothing to say, and no mistake of anybody's
    tab.send("look", neuron=2)
    assert tab.next("look", "notice")["neuron"] == 2


@pytest.mark.parametrize("what", ["remove", "learn", "arrays", "facts"])
def test_a_mistake_of_ours_does_not_end_the_run(stripes, tab, monkeypatch, capfd, what):
    def broken(*_):
        raise ZeroDivisionError("broken")

    with monkeypatch.context() as patched:
        patched.setattr(f"gaussian_neurons.live.trial.Trial.{what}", broken)
        tab.send("remove", neuron=1)
        assert "a mistake of this program's" in tab.next("failed")["trouble"]
    assert "ZeroDivisionError" in capfd.readouterr().err
    tab.send("resume")
    assert tab.frame(where=lambda frame: frame["state"] == "running")


def test_a_question_that_nobody_waits_for_any_more_does_no_harm(stripes, tab):
    run = stripes.page.run
    begun, rest = threading.Event(), threading.Event()
    slow = run.ask(lambda trial: (begun.set(), rest.wait(PATIENCE)))
    begun.wait(PATIENCE)
    forgotten = run.ask(lambda trial: trial.seen)
    assert forgotten.cancel()
    rest.set()
    slow.result(PATIENCE)
    assert stripes.ask(lambda trial: trial.seen) >= 0


def test_a_command_for_neurons_of_an_earlier_start_is_left_out(tab):
    generation = tab.frame()["generation"]
    tab.send("reset", seed="same")
    tab.next("scene", where=lambda scene: scene["generation"] == generation + 1)
    tab.send("remove", neuron=1, generation=generation)
    tab.send("remove", neuron=2, generation=generation + 1)
    assert tab.frame(where=lambda frame: len(frame["ids"]) < 6)["ids"].tolist() == [1, 3, 4, 5, 6]


def test_what_changes_nothing_is_not_told(tab):
    tab.send("set", name="lambda", value=0.5)
    tab.send("set", name="lambda", value=0.4)
    assert tab.next("mark")["text"] == "λ = 0.4"
