"""The run: when it learns, which commands it executes, and what it sends."""

import functools
import itertools
import json
import threading
import time
from dataclasses import replace

import numpy as np
import pytest
from websockets.exceptions import ConnectionClosed

from gaussian_neurons import GaussianNeurons
from gaussian_neurons.cli.shown_files import points_from_rows
from gaussian_neurons.live import run as running
from gaussian_neurons.live.sources import Sources, default_setup
from tests.live.serving import MIXTURE, STRIPES, request, served
from tests.waiting import PATIENCE, wait_for


@pytest.fixture
def plane():
    """A server in the plane and its client."""
    with served(MIXTURE) as one, one.tab() as client:
        yield one, client


def blocked(served):
    """Block the thread of the run until the returned event is set."""
    event = threading.Event()
    served.run.query(lambda trial: event.wait(PATIENCE))
    return event


def test_a_new_client_gets_the_whole_state(stripes):
    with stripes.tab() as client:
        welcome = client.next("welcome")
        assert [preset["name"] for preset in welcome["presets"]][1] == "figure2a"
        scene = client.next("scene")
        assert scene["mode"] == "image"
        assert scene["patch"] == [4, 4, 1]
        assert scene["classes"] == [{"value": 0, "name": "horizontal"}, {"value": 1, "name": "vertical"}]
        assert client.next("history")["points"] is not None
        frame = client.frame(where=lambda frame: frame["seen"] > 0)
        assert frame["centers"].shape == (6, 16)
        assert frame["centers"].dtype == np.uint8


def test_coordinates_far_from_zero_are_sent_exactly():
    rows = np.random.default_rng(0).normal(size=(50, 2)) + 1e9
    points = points_from_rows(rows, "far.csv", (), axes=("east", "north"))
    with served(default_setup("file", points), Sources(None, points)) as far, far.tab() as client:
        assert client.next("scene")["axes"] == ["east", "north"]
        frame = client.frame(where=lambda frame: frame["seen"] > 0)
        assert set(frame["samples"].ravel()) <= set(rows.ravel())


# ---- learning -------------------------------------------------------------------------------------


def test_nothing_is_learned_or_sent_during_a_pause_and_a_step_is_one_sample(client):
    client.send("pause")
    seen = client.frame(where=lambda frame: frame["state"] == "paused")["seen"]
    for k in range(3):
        client.send("step")
        assert client.frame(where=lambda frame, k=k: frame["seen"] > seen + k)["seen"] == seen + k + 1
    with pytest.raises(TimeoutError):
        client.socket.recv(timeout=0.3)
    client.send("resume")
    assert client.frame(where=lambda frame: frame["seen"] > seen + 3)["state"] == "running"


def test_the_speed_is_limited(stripes, client):
    client.send("set", name="speed", value=0.1)
    client.next("scene", where=lambda scene: scene["setup"]["speed"] == 0.1)
    seen = stripes.query(lambda trial: trial.seen)
    time.sleep(0.2)
    assert stripes.query(lambda trial: trial.seen) <= seen + 2


def test_the_seed_determines_the_start_centers(client):
    client.send("pause")
    client.frame(where=lambda frame: frame["state"] == "paused")
    starts = []
    for seed in ("same", "same", "new"):
        client.send("reset", seed=seed)
        client.next("scene")
        starts.append(client.frame(where=lambda frame: frame["seen"] == 0)["centers"])
    assert (starts[0] == starts[1]).all()
    assert (starts[0] != starts[2]).any()


def test_learning_stops_at_an_error_and_continues_after_a_change(client, monkeypatch):
    def diverges(trial, most):
        raise FloatingPointError("lower the learning_rate.")

    with monkeypatch.context() as patched:
        patched.setattr("gaussian_neurons.live.trial.Trial.learn", diverges)
        failed = client.frame(where=lambda frame: frame["state"] == "failed")
    assert failed["error"] == "lower the learning_rate."
    assert len(failed["ids"]) == 6
    client.send("set", name="eta", value=0.05)
    assert client.frame(where=lambda frame: frame["state"] == "running" and frame["seen"] > failed["seen"])


@pytest.mark.parametrize("what", ["remove", "learn", "arrays", "facts"])
def test_a_bug_does_not_end_the_run(client, monkeypatch, capfd, what):
    def broken(*_):
        raise ZeroDivisionError("broken")

    with monkeypatch.context() as patched:
        patched.setattr(f"gaussian_neurons.live.trial.Trial.{what}", broken)
        client.send("remove", neuron=1)
        assert "ZeroDivisionError" in client.next("failed")["error"]
    assert "ZeroDivisionError" in capfd.readouterr().err
    client.send("resume")
    assert client.frame(where=lambda frame: frame["state"] == "running")


def test_nothing_is_learned_without_clients(stripes):
    with stripes.tab() as client:
        client.send("resume")
        client.frame(where=lambda frame: frame["seen"] > 0)
    wait_for(lambda: not stripes.run.clients)
    seen = stripes.query(lambda trial: trial.seen)
    time.sleep(0.2)
    assert stripes.query(lambda trial: trial.seen) == seen
    with stripes.tab() as client:
        assert client.frame(where=lambda frame: frame["seen"] > seen)


# ---- links and several clients --------------------------------------------------------------------


def test_two_clients_share_one_run(stripes, client):
    with stripes.tab() as other:
        other.next("scene")
        client.send("remove", neuron=3)
        assert other.next("mark", where=lambda mark: "removed" in mark["text"])["text"] == "μ₃ removed"
        assert other.frame(where=lambda frame: 3 not in frame["ids"])
        other.send("pause")
        assert client.frame(where=lambda frame: frame["state"] == "paused")


def test_a_link_is_applied_at_once_if_no_other_client_is_connected(stripes):
    wait_for(lambda: not stripes.run.clients)
    with stripes.tab(setup={**STRIPES.as_json(), "K": 9}, link=True) as alone:
        assert alone.next("scene")["setup"]["K"] == 9
        generation = alone.frame(where=lambda frame: len(frame["ids"]) == 9)["generation"]
        with stripes.tab(setup={"K": 4}, link=True) as second:
            assert second.next("question")["setup"]["K"] == 4
            assert second.frame()["generation"] == generation
        with stripes.tab(setup={**STRIPES.as_json(), "K": 9}, link=True) as same:
            assert same.frame()["generation"] == generation
        with stripes.tab(setup={"K": 1_000_000}, link=True) as wrong:
            assert "K (neurons) must be" in wrong.next("notice")["text"]
            assert wrong.frame()["generation"] == generation


def test_a_link_names_the_figure_if_several_have_its_settings():
    with served(MIXTURE) as one:
        link = {"setup": one.run.presets["figure2b"].setup.as_json(), "link": True}
        with one.tab(**link) as client:
            assert client.next("scene")["preset"] == "figure2a"
        wait_for(lambda: not one.run.clients)
        with one.tab(**link, preset="figure2b") as client:
            assert client.next("scene")["preset"] == "figure2b"


def test_classes_of_a_link_are_ignored_for_points():
    with served(STRIPES) as one, one.tab(setup={"data": "mixture", "classes": [1, 2]}, link=True) as client:
        scene = client.next("scene")
        assert (scene["mode"], scene["setup"]["classes"]) == ("plane", None)


def test_a_restarted_server_takes_the_settings_of_the_first_page():
    page = {"link": False, "run_name": "before"}
    with served(STRIPES) as fresh, fresh.tab(setup={**STRIPES.as_json(), "K": 5}, **page) as first:
        assert first.next("scene", where=lambda scene: scene["setup"]["K"] == 5)
        with fresh.tab(setup={**STRIPES.as_json(), "K": 7}, **page) as second:
            assert second.next("scene")["setup"]["K"] == 5


@pytest.mark.parametrize("setup", [MIXTURE, replace(MIXTURE, n_neurons=5)])
def test_a_restarted_server_stays_paused_if_the_first_page_was(setup):
    with served(MIXTURE) as one, one.tab(setup=setup.as_json(), run_name="before", paused=True) as first:
        assert first.frame()["state"] == "paused"
        with one.tab(setup=setup.as_json(), run_name="before", paused=False) as second:
            assert second.frame()["state"] == "paused"
            second.send("resume")
            assert second.frame(where=lambda frame: frame["seen"] > 100)["state"] == "running"
        with one.tab(setup=setup.as_json(), run_name=one.run.name, paused=True):
            assert first.frame(where=lambda frame: frame["seen"] > 200)["state"] == "running"


# ---- neurons and points ---------------------------------------------------------------------------


def test_a_disconnected_client_releases_its_neurons(plane):
    one, client = plane
    client.frame(where=lambda frame: frame["seen"] > 0)
    with one.tab() as other:
        other.send("move", neuron=2, to=[0.3, 0.4])
        assert other.frame(where=lambda frame: np.allclose(frame["centers"][1], [0.3, 0.4]))
    assert client.frame(where=lambda frame: not np.allclose(frame["centers"][1], [0.3, 0.4]))


def test_waiting_moves_are_executed_in_their_order(plane):
    one, client = plane
    client.send("pause")
    client.frame(where=lambda frame: frame["state"] == "paused")
    event = blocked(one)
    for k in range(100):
        client.send("move", neuron=2, to=[0.3, k / 100])
    client.send("release")
    client.send("move", neuron=3, to=[0.6, 0.6])
    client.send("move", neuron=4, to=[0.8, 0.8])
    client.send("move", neuron=3, to=[0.7, 0.7])
    client.send("release")
    client.send("move", neuron=2, to=[0.4, 0.4])
    event.set()
    wanted = [[0.4, 0.4], [0.7, 0.7], [0.8, 0.8]]
    client.frame(where=lambda frame: np.allclose(frame["centers"][1:4], wanted))
    assert one.query(lambda trial: trial.held) == {2: (0.4, 0.4)}


def test_no_waiting_point_is_lost(plane):
    one, client = plane
    before = len(client.next("points")["points"])
    event = blocked(one)
    painted = [[k / 500, 0.5] for k in range(500)]
    for point in painted:
        client.send("paint", points=[point])
    event.set()
    received = []
    while len(received) < len(painted):
        message = client.next("points", "notice")
        assert message["type"] == "points"
        assert message["first"] == before + len(received)
        received += message["points"].tolist()
    assert received == painted


def test_points_are_painted_and_removed(plane):
    one, client = plane
    before = len(client.next("points")["points"])
    client.send("paint", points=[[0.5, 0.5], [0.6, 0.6]])
    painted = client.next("points", where=lambda message: message["first"] == before)
    assert painted["points"].tolist() == [[0.5, 0.5], [0.6, 0.6]]
    assert painted["painted"].tolist() == [1, 1]
    client.send("noise", count=30)
    assert len(client.next("points", where=lambda message: message["first"] == before + 2)["points"]) == 30
    with one.tab() as later:
        message = later.next("points")
        assert message["first"] == 0
        assert message["painted"].tolist() == [0] * before + [1] * 32
    client.send("paint", points=[[50.0, 0.5]])
    assert "too far" in client.next("notice")["text"]
    client.send("unpaint")
    assert client.next("points", where=lambda message: len(message["points"]) == before)


def test_a_restart_keeps_painted_points(plane):
    one, client = plane
    before = len(client.next("points")["points"])
    client.send("paint", points=[[0.5, 0.5]])
    for seed in ("same", "new"):
        client.send("reset", seed=seed)
        message = client.next("points", where=lambda message: message["first"] == 0)
        assert message["points"][before:].tolist() == [[0.5, 0.5]]
        assert message["painted"].sum() == 1
    assert b"[[0.5, 0.5]]" in request(one, "/script.py")[2]
    client.send("unpaint")
    assert len(client.next("points", where=lambda message: message["first"] == 0)["points"]) == before
    client.send("paint", points=[[0.2, 0.2]])
    assert client.next("points")["first"] == before


def test_another_covariance_type_restarts_with_the_same_points_and_learns_covariances(plane):
    _, client = plane
    client.send("paint", points=[[0.5, 0.5]])
    client.send("start", setup={"covariance_type": "full"})
    scene = client.next("scene", where=lambda scene: scene["setup"]["covariance_type"] == "full")
    assert scene["setup"]["eta_sigma"] == 0.1
    assert scene["painted"] == 1
    frame = client.frame(where=lambda frame: frame["seen"] > 500)
    assert frame["covariances"].shape == (8, 3)
    assert frame["covariances"][:, 1].any()
    client.send("start", setup={"covariance_type": "diag", "eta_sigma": 0})
    scene = client.next("scene", where=lambda scene: scene["setup"]["covariance_type"] == "diag")
    assert scene["setup"]["eta_sigma"] == 0
    client.send("start", setup={"data": "mixture"})  # chosen again: as it was
    assert client.next("scene", where=lambda scene: scene["painted"] == 0)
    client.send("start", setup={"covariance_type": "round"})
    assert "one of 'spherical', 'diag', 'full'" in client.next("notice")["text"]


def test_a_link_with_covariances_learns_them():
    with served(MIXTURE) as one, one.tab(setup={"covariance_type": "diag"}, link=True) as client:
        setup = client.next("scene")["setup"]
        assert (setup["covariance_type"], setup["eta_sigma"]) == ("diag", 0.1)


RESTARTS = {
    "preset": {"name": "figure1"},
    "start": {"setup": {"data": "mixture"}},
    "reset": {"seed": "new"},
    "undo": {},
}


@pytest.mark.parametrize("state", ["paused", "running"])
def test_every_restart_stays_paused_or_running(plane, state):
    _, client = plane
    client.send("pause" if state == "paused" else "resume")
    client.frame(where=lambda frame: frame["state"] == state)
    for do, arguments in RESTARTS.items():
        generation = client.generation
        client.send(do, **arguments)
        client.next("scene", where=lambda scene, old=generation: scene["generation"] > old)
        assert client.frame()["state"] == state


def test_a_server_starts_paused_unless_its_page_was_running():
    with served(MIXTURE, running=False) as one, one.tab() as client:
        assert (client.frame()["state"], one.query(lambda trial: trial.seen)) == ("paused", 0)
    page = {"setup": MIXTURE.as_json(), "run_name": "before"}
    with served(MIXTURE, running=False) as one, one.tab(**page, paused=False) as client:
        assert client.frame(where=lambda frame: frame["seen"] > 0)["state"] == "running"


# ---- undo -----------------------------------------------------------------------------------------


def value(one):
    """What undo restores."""
    trial = one.query(lambda trial: trial)
    return (
        trial.ids,
        trial.model.centers_.tolist(),
        trial.setup,
        len(trial.points()["points"]),
        trial.script(),
    )


ACTIONS = {
    "μ₂ removed": [("remove", {"neuron": 2})],
    "μ₁₀ added": [("add", {"count": 2})],
    "μ₃ moved": [("move", {"neuron": 3, "to": [0.1, k / 10]}) for k in range(4)] + [("release", {})],
    "points painted": [("paint", {"points": [[0.1 * k, 0.2]]}) for k in range(4)],
    "noise added": [("noise", {"count": 10})],
    "λ = 0.4": [("set", {"name": "lambda", "value": value}) for value in (0.2, 0.3, 0.4)],
    "K = 5": [("set", {"name": "K", "value": 5})],
    "seed 1": [("reset", {"seed": "new"})],
    "Figure 1": [("preset", {"name": "figure1"})],
}


@pytest.mark.parametrize("action", ACTIONS)
def test_an_action_is_undone_and_redone_with_its_script(plane, action):
    one, client = plane
    client.frame(where=lambda frame: frame["seen"] > 100)
    client.send("pause")
    client.frame(where=lambda frame: frame["state"] == "paused")
    before = value(one)
    for do, arguments in ACTIONS[action]:
        client.send(do, **arguments)
    name = "2 added" if action == "μ₁₀ added" else action
    client.next("scene", where=lambda scene: scene["undo"] == name)
    after = value(one)
    assert after != before
    client.send("step")
    client.send("undo")
    scene = client.next("scene", where=lambda scene: scene["redo"] == name)
    assert (scene["undo"], value(one)) == (None, before)
    client.send("redo")
    scene = client.next("scene", where=lambda scene: scene["undo"] == name)
    assert scene["redo"] is None
    client.send("undo")
    client.send("undo")  # nothing is left
    client.next("scene", where=lambda scene: scene["redo"] == name)
    client.send("remove", neuron=1)
    client.next("scene", where=lambda scene: scene["undo"] == "μ₁ removed" and scene["redo"] is None)


def test_an_action_that_fails_is_none(plane):
    one, client = plane
    client.send("add", at=[50.0, 50.0])
    assert "too far" in client.next("notice")["text"]
    assert len(one.run.past) == 0


def test_the_number_of_actions_that_can_be_undone_is_limited(plane):
    one, client = plane
    for k in range(running.MAX_UNDO + 5):
        client.send("set", name=("lambda", "eta")[k % 2], value=0.001 * (k + 1))
        client.next("scene", where=lambda scene, k=k: k % 2 or scene["setup"]["lambda"] == 0.001 * (k + 1))
    wait_for(lambda: len(one.run.past) == running.MAX_UNDO)


def test_the_figure_of_a_changed_run_stays_known(plane):
    _, client = plane
    client.send("preset", name="figure2f")
    scene = client.next("scene", where=lambda scene: scene["preset"] == "figure2f")
    assert not scene["changed"]
    client.send("set", name="classes", value=[1])
    client.send("set", name="classes", value=None)
    assert client.next("scene", where=lambda scene: scene["setup"]["classes"] is None)["changed"]
    client.send("undo")
    assert not client.next("scene", where=lambda scene: scene["redo"] is not None)["changed"]
    for number in (0.01, 0.5):
        client.send("set", name="lambda", value=number)
        scene = client.next("scene", where=lambda scene, n=number: scene["setup"]["lambda"] == n)
        assert (scene["preset"], scene["changed"]) == ("figure2f", True)  # also at the old value
    client.send("start", setup={"data": "mixture"})
    assert client.next("scene", where=lambda scene: scene["mode"] == "plane")["preset"] is None


def test_a_move_of_a_removed_neuron_is_ignored(plane):
    _, client = plane
    client.send("remove", neuron=2)
    client.frame(where=lambda frame: len(frame["ids"]) == MIXTURE.n_neurons - 1)
    client.send("move", neuron=2, to=[0.5, 0.5])
    client.send("inspect", neuron=1)
    assert client.next("inspect", "notice")["type"] == "inspect"


def test_commands_for_an_earlier_trial_are_ignored(client):
    generation = client.frame()["generation"]
    client.send("reset", seed="same")
    client.next("scene", where=lambda scene: scene["generation"] == generation + 1)
    client.send("remove", neuron=1, generation=generation)
    client.send("remove", neuron=2, generation=generation + 1)
    assert client.frame(where=lambda frame: len(frame["ids"]) < 6)["ids"].tolist() == [1, 3, 4, 5, 6]


def test_setting_the_current_value_sends_no_mark(client):
    client.send("set", name="lambda", value=0.5)
    client.send("set", name="lambda", value=0.4)
    assert client.next("mark")["text"] == "λ = 0.4"


def test_clients_are_notified_when_a_removed_pattern_is_learned_again(stripes, client):
    def learned(trial):
        return trial.seen > 50_000 and [k for k, it in enumerate(trial.learned) if it]

    which = stripes.until(learned)[0]
    number, center = stripes.query(lambda trial: (trial.ids[which], trial.model.centers_[which].copy()))
    client.send("remove", neuron=number)
    stripes.until(lambda trial: number not in trial.ids)
    stripes.query(lambda trial: trial.model.move_neurons([0], centers=[center]))
    message = client.next("relearned")
    assert message["old"] == number
    assert message["new"] in stripes.query(lambda trial: trial.ids)
    assert message["text"].endswith(f"μ{'₀₁₂₃₄₅₆'[number]}.")


def test_the_run_is_slow_after_the_removal_of_a_learned_neuron_unless_it_is_undone(
    stripes, client, monkeypatch
):
    monkeypatch.setattr(running, "DOUBLES", 1000.0)  # seconds
    which = stripes.until(lambda trial: trial.learned.any() and 1 + trial.learned.argmax())
    client.send("remove", neuron=int(which))
    stripes.until(lambda trial: which not in trial.ids)
    assert stripes.run.speed < STRIPES.speed
    client.send("undo")
    stripes.until(lambda trial: which in trial.ids)
    assert stripes.run.speed == STRIPES.speed


# ---- queries --------------------------------------------------------------------------------------


def test_model_and_script_are_downloaded(stripes, client, tmp_path):
    client.frame(where=lambda frame: frame["seen"] > 2000)
    status, headers, body = request(stripes, "/model.safetensors")
    assert status == 200
    assert "attachment" in headers["content-disposition"]
    (tmp_path / "m.safetensors").write_bytes(body)
    model = GaussianNeurons.load(tmp_path / "m.safetensors")
    assert model.n_samples_seen_ > 2000
    assert len(model.centers_) == 6
    status, _, text = request(stripes, "/script.py")
    assert status == 200
    compile(text, "script", "exec")


def test_an_inspected_neuron_gets_its_strongest_patches(client):
    client.frame(where=lambda frame: frame["seen"] > 2000)
    client.send("inspect", neuron=1)
    found = client.next("inspect")
    assert found["neuron"] == 1
    assert found["patches"].shape == (6, 16)
    assert found["axes"].tolist() == [1.0, 1.0]
    assert (np.diff(found["responses"]) <= 0).all()
    client.send("inspect", neuron=77)  # removed: no response
    client.send("inspect", neuron=2)
    assert client.next("inspect", "notice")["neuron"] == 2


def test_a_query_may_be_cancelled(stripes):
    begun, event = threading.Event(), threading.Event()
    slow = stripes.run.query(lambda trial: (begun.set(), event.wait(PATIENCE)))
    begun.wait(PATIENCE)
    assert stripes.run.query(lambda trial: trial.seen).cancel()
    event.set()
    slow.result(PATIENCE)
    assert stripes.query(lambda trial: trial.seen) >= 0


# ---- many commands --------------------------------------------------------------------------------


def slowed(monkeypatch, wait):
    """Let every command that sets K call `wait`; returns the list of those that have started."""
    change, started = running.COMMANDS["set"], []

    def slow(*arguments, **named):
        started.append(named)
        wait()
        change(*arguments, **named)

    monkeypatch.setitem(running.COMMANDS, "set", slow)
    return started


def flood(client, end):
    """Send commands and read messages in two threads until the event `end`."""

    def read():
        try:
            for _ in client.socket:
                pass
        except ConnectionClosed:
            pass

    def send():
        try:
            for count in itertools.cycle((1, 40)):
                if end.is_set():
                    break
                client.socket.send(json.dumps({"do": "set", "name": "K", "value": count}))
        except ConnectionClosed:
            pass

    threads = [threading.Thread(target=work) for work in (read, send)]
    for thread in threads:
        thread.start()
    return threads


def test_a_client_with_many_commands_does_not_block_the_others(monkeypatch):
    started = slowed(monkeypatch, functools.partial(time.sleep, 0.01))
    end = threading.Event()
    with served(MIXTURE) as one, one.tab() as loud:
        threads = flood(loud, end)
        try:
            wait_for(lambda: len(started) > 3)
            with one.tab() as other:
                assert other.next("welcome")
                seen = other.frame()["seen"]
                assert other.frame(where=lambda frame: frame["seen"] > seen)
                other.send("pause")
                assert other.frame(where=lambda frame: frame["state"] == "paused")
        finally:
            end.set()
            loud.close()
            for thread in threads:
                thread.join()


def test_stop_does_not_wait_for_waiting_commands(monkeypatch):
    stopping = threading.Event()
    started = slowed(monkeypatch, stopping.wait)
    with served(MIXTURE) as one, one.tab() as first, one.tab() as second:
        first.next("scene")
        second.next("scene")
        for count, client in enumerate((first, second)):
            client.send("set", name="K", value=1 + count)
        wait_for(lambda: one.run._queue.qsize() == 1)
        thread = threading.Thread(target=one.stop)
        thread.start()
        wait_for(lambda: one.run._stopping)
        stopping.set()
        thread.join()
        assert len(started) == 1
        assert one.run._queue.qsize() > 0


def test_a_pause_is_shown_at_once_also_if_frames_are_slow(stripes, client):
    client.frame()
    stripes.query(lambda trial: setattr(stripes.run, "_frame_took", 100.0))
    client.send("pause")  # while learning, the next frame would be due in ten minutes
    client.frame(where=lambda frame: frame["state"] == "paused")


def test_settings_of_a_given_width_are_refused_for_an_automatic_one(plane):
    _, client = plane
    client.send("start", setup={"clusters": "compact"})
    scene = client.next("scene", where=lambda scene: scene["setup"]["clusters"] == "compact")
    assert scene["setup"]["covariance_type"] == "spherical"
    for name in ("sigma", "lambda", "eta", "eta_sigma"):
        client.send("set", name=name, value=0.5)
        assert "another shape" in client.next("notice")["text"]
    client.send("start", setup={"covariance_type": "full"})
    setup = client.next("scene", where=lambda scene: scene["setup"]["clusters"] is None)["setup"]
    assert (setup["covariance_type"], setup["eta_sigma"]) == ("full", 0.1)
    client.send("undo")
    client.next("scene", where=lambda scene: scene["setup"]["clusters"] == "compact")
    assert len(client.frame()["clusters"]) == MIXTURE.n_neurons
