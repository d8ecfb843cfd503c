"""The server without a browser: who may talk to it, what it makes of nonsense, and when it learns."""

import http.client
import json
import random
import socket
import threading
import time
from contextlib import ExitStack

import numpy as np
import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus

from gaussian_neurons import GaussianNeurons
from gaussian_neurons.live import guard, messages
from gaussian_neurons.live import server as serving
from tests.live.serving import MIXTURE, STRIPES, Tab, served, wait_for


@pytest.fixture(scope="module")
def stripes():
    with served(STRIPES) as one:
        yield one


@pytest.fixture
def tab(stripes):
    with stripes.tab() as one:
        one.send("start", setup=STRIPES.told())
        one.next("scene", where=lambda scene: scene["setup"] == STRIPES.told())
        yield one


def asked(served, path="/", method="GET", **headers):
    """Status, headers and text of an answer."""
    connection = http.client.HTTPConnection("127.0.0.1", served.port, timeout=10)
    given = {"Host": f"127.0.0.1:{served.port}"} | {k.replace("_", "-"): v for k, v in headers.items()}
    connection.request(method, path, headers=given)
    answer = connection.getresponse()
    body = answer.read()
    connection.close()
    return answer.status, dict(answer.getheaders()), body


# ---- who may talk to it ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:80", "127.0.0.1.evil.example", "", "10.0.0.7", "a@b"]
)
def test_a_host_that_is_not_ours_is_refused(stripes, host):
    status, _, body = asked(stripes, Host=host)
    assert status in (400, 403)
    assert b"127.0.0.1" not in body.replace(host.encode(), b"") or not host
    with pytest.raises(InvalidStatus):
        Tab(stripes.port, headers={"Host": host}, origin=f"http://{host}")


@pytest.mark.parametrize("name", ["127.0.0.1", "localhost", "[::1]", "LOCALHOST"])
def test_names_of_this_machine_are_ours_at_any_port(stripes, name):
    """A port may be forwarded."""
    assert asked(stripes, Host=f"{name}:{stripes.port}")[0] == 200
    assert asked(stripes, Host=f"{name}:9")[0] == 200


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "http://127.0.0.1:1", "http://localhost:{port}", "file://"]
)
def test_a_page_from_elsewhere_cannot_connect(stripes, origin):
    with pytest.raises(InvalidStatus) as refused:
        Tab(stripes.port, origin=origin.format(port=stripes.port))
    assert refused.value.response.status_code == 403
    assert asked(stripes, "/script.py", Origin=origin.format(port=stripes.port))[0] == 403


def test_without_an_origin_nobody_connects(stripes):
    with socket.create_connection(("127.0.0.1", stripes.port), timeout=10) as raw:
        raw.sendall(
            f"GET /live HTTP/1.1\r\nHost: 127.0.0.1:{stripes.port}\r\nUpgrade: websocket\r\n"
            f"Connection: Upgrade\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"
            f"Sec-WebSocket-Version: 13\r\n\r\n".encode()
        )
        assert b"403" in raw.recv(1000).split(b"\r\n")[0]


def test_another_page_cannot_fetch_what_was_learned(stripes):
    for path in ("/model.safetensors", "/script.py", "/page/main.js"):
        assert asked(stripes, path, Sec_Fetch_Site="cross-site")[0] == 403
        assert asked(stripes, path, Sec_Fetch_Site="same-origin")[0] == 200
    assert asked(stripes, "/", Sec_Fetch_Site="cross-site")[0] == 200  # a link may lead here


def test_every_answer_says_what_the_page_may_do(stripes):
    status, headers, _ = asked(stripes)
    assert status == 200
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "script-src 'self';" in policy
    assert "frame-ancestors 'none'" in policy
    assert headers["x-frame-options"] == "DENY"
    assert headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize(
    "path",
    [
        "/page/../run.py",
        "/page/..%2frun.py",
        "/page/%2e%2e/run.py",
        "/page/",
        "/run.py",
        "/page/a%00b",
        "//etc/passwd",
    ],
)
def test_only_the_page_is_handed_out(stripes, path):
    assert asked(stripes, path)[0] == 404


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS"])
def test_nothing_can_be_sent_but_messages(stripes, method):
    assert asked(stripes, "/", method)[0] == 405


def test_a_token_is_asked_for_at_other_addresses():
    token = guard.new_token()
    assert len(token) >= 20
    with served(STRIPES, host="0.0.0.0", token=token) as open_to_others:
        for path in ("/", "/model.safetensors", "/script.py", "/page/main.js", "/?token=wrong", "/?token="):
            status, _, body = asked(open_to_others, path)
            assert status == 401, path
            assert token.encode() not in body
            assert b"gaussian-neurons live printed" in body
        with Tab(open_to_others.port, greet=False) as stranger, pytest.raises(ConnectionClosed) as closed:
            stranger.socket.recv(timeout=10)
        assert closed.value.rcvd.code == 4401
        status, headers, _ = asked(open_to_others, f"/?K=3&token={token}")
        assert (status, headers["location"]) == (303, "/?K=3")
        cookie = headers["set-cookie"]
        assert "HttpOnly" in cookie
        assert "SameSite=Lax" in cookie
        known = cookie.split(";")[0]
        assert asked(open_to_others, Cookie=known)[0] == 200
        assert asked(open_to_others, Cookie=f"{guard.COOKIE}=wrong")[0] == 401
        assert asked(open_to_others, Cookie="\xff;;=")[0] == 401
        assert asked(open_to_others, Cookie=known, Host="evil.example")[0] == 403
        assert asked(open_to_others, Cookie=known, Host=f"192.168.1.5:{open_to_others.port}")[0] == 200
        with Tab(open_to_others.port, headers={"Cookie": known}) as friend:
            assert friend.next("welcome")
        with pytest.raises(InvalidStatus):
            Tab(open_to_others.port, headers={"Cookie": known}, origin="http://evil.example")


def test_a_port_that_is_taken_is_said_and_the_next_is_tried():
    with served(STRIPES) as first, pytest.raises(OSError, match=f"port {first.port}.*--port"):
        serving.listen("127.0.0.1", first.port)
    with pytest.raises(OSError, match=r"192\.0\.2\.1 port 8765.*--host"):
        serving.listen("192.0.2.1", None)
    one = serving.listen("127.0.0.1", None)
    other = serving.listen("127.0.0.1", None)
    assert one.getsockname()[1] != other.getsockname()[1]
    one.close()
    other.close()


# ---- nonsense -------------------------------------------------------------------------------------


def nonsense(random):
    """A message that makes no sense, or almost does."""
    value = random.choice(
        [
            None,
            True,
            -1,
            0,
            3,
            1e308,
            10**40,
            "",
            "x" * 50,
            [],
            {},
            [[]],
            {"a": 1},
            [1, 2],
            "figure2a",
            "K",
            "sigma",
        ]
    )
    name = random.choice(
        ["setup", "name", "value", "neuron", "to", "at", "points", "count", "seed", "link", "run"]
    )
    do = random.choice([*messages.MESSAGES, "left", "__class__", "", None, 7])
    kind = random.randrange(6)
    if kind == 0:
        return random.randbytes(random.randrange(60)).decode("latin-1")
    if kind == 1:
        return json.dumps(value)
    if kind == 2:
        return "[" * random.randrange(2000)
    whole = json.dumps({"do": do, name: value, random.choice(["a", "value", "neuron", "setup"]): value})
    return whole[: random.randrange(len(whole))] if kind == 3 else whole


def test_ten_thousand_random_messages_are_survived():
    """Some of them are even right: so the run is changed, but it lives, and its numbers are sound."""
    chance = random.Random(7)
    with served(MIXTURE) as one:
        sent = closed = 0
        while sent < 10_000:
            with one.tab() as tab:
                reader = threading.Thread(target=_read_all, args=(tab,))
                reader.start()
                try:
                    for _ in range(2500):
                        text = nonsense(chance)
                        tab.socket.send(text.encode() if chance.random() < 0.02 else text)
                        sent += 1
                except ConnectionClosed:
                    closed += 1
                tab.socket.close()
                reader.join()
        assert closed < 100
        with one.tab() as tab:
            tab.send("start", setup=STRIPES.told())
            frame = tab.frame(where=lambda frame: frame["seen"] > 1000 and len(frame["ids"]) == 6)
            assert frame["state"] == "running"
        assert asked(one)[0] == 200
        assert one.page.run._thread.is_alive()


def _read_all(tab):
    try:
        for _ in tab.socket:
            pass
    except ConnectionClosed:
        pass


def test_a_message_that_is_too_long_ends_the_connection_alone(stripes, tab):
    with stripes.tab() as other:
        other.socket.send("x" * (messages.LONGEST + 1))
        with pytest.raises(ConnectionClosed) as closed:
            other.next("nothing")
    assert closed.value.rcvd.code == 1009
    assert tab.frame()


@pytest.mark.parametrize(
    ("message", "said"),
    [
        (
            {"do": "set", "name": "K", "value": 1_000_000},
            "K must be a whole number from 1 to 400, got 1000000.",
        ),
        ({"do": "start", "setup": {"K": 1_000_000}}, "K must be"),
        ({"do": "start", "setup": {"data": "mnist"}}, "MNIST: not here"),
        ({"do": "start", "setup": {"size": 28}}, "no patch of size 28 fits into images of 12 x 12"),
        ({"do": "set", "name": "classes", "value": [5]}, "no image has a label of"),
        ({"do": "preset", "name": "figure9"}, "there is no preset 'figure9'; there are figure1"),
        ({"do": "remove", "neuron": 77}, "there is no neuron 77"),
        ({"do": "move", "neuron": 1, "to": [0, 0]}, "in the plane only"),
        ({"do": "noise"}, "in the plane only"),
        ({"do": "hello"}, "hello comes first, and once"),
    ],
)
def test_what_cannot_be_done_is_said_and_changes_nothing(tab, message, said):
    tab.socket.send(json.dumps(message))
    assert said in tab.next("notice")["text"]
    frame = tab.frame()
    assert frame["ids"].tolist() == [1, 2, 3, 4, 5, 6]


def test_hello_comes_first(stripes):
    with stripes.tab(greet=False) as silent:
        with pytest.raises(TimeoutError):  # nothing is told to who has not greeted
            silent.socket.recv(timeout=0.3)
        silent.send("pause")
        assert "hello comes first" in silent.next("notice")["text"]
        silent.socket.send(b"\x00\x01")
        assert "must be text" in silent.next("notice")["text"]


def test_there_are_only_so_many_tabs(stripes):
    wait_for(lambda: not stripes.page.clients)
    with ExitStack() as opened:
        for _ in range(serving.MOST_CLIENTS):
            assert opened.enter_context(stripes.tab()).next("welcome")
        more = opened.enter_context(stripes.tab(greet=False))
        with pytest.raises(ConnectionClosed) as closed:
            more.socket.recv(timeout=10)
        assert closed.value.rcvd.code == serving.TOO_MANY_CLIENTS
    wait_for(lambda: not stripes.page.clients)


# ---- the run --------------------------------------------------------------------------------------


def test_a_tab_is_told_everything_it_needs(stripes):
    with stripes.tab() as tab:
        welcome = tab.next("welcome")
        assert [preset["name"] for preset in welcome["presets"]][1] == "figure2a"
        assert {"name": "K", "limits": welcome["limits"]["K"]} == {"name": "K", "limits": [1, 400]}
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


def test_a_speed_is_kept(tab):
    tab.send("set", name="speed", value=500)
    tab.next("scene", where=lambda scene: scene["setup"]["speed"] == 500)
    first, begin = tab.frame()["seen"], time.monotonic()
    while time.monotonic() - begin < 1.0:
        last = tab.frame()["seen"]
    assert 0 < last - first < 2 * 500 * (time.monotonic() - begin)  # the pace itself is tested by hand


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
    seen = run.ask(lambda trial: trial.seen).result(10)
    time.sleep(0.2)
    assert run.ask(lambda trial: trial.seen).result(10) == seen
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
            assert "K must be" in wrong.next("notice")["text"]
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


def test_points_are_painted_by_message():
    with served(MIXTURE) as one, one.tab() as tab:
        before = len(tab.next("points")["points"])
        tab.send("paint", points=[[0.5, 0.5], [0.6, 0.6]])
        painted = tab.next("points", where=lambda message: len(message["points"]) == before + 2)
        assert painted["painted"].sum() == 2
        tab.send("noise", count=30)
        assert tab.next("points", where=lambda message: len(message["points"]) == before + 32)
        tab.send("paint", points=[[50.0, 0.5]])
        assert "too far away" in tab.next("notice")["text"]
        tab.send("unpaint")
        assert tab.next("points", where=lambda message: len(message["points"]) == before)


def test_a_slow_tab_gets_fewer_frames_and_takes_no_memory(stripes, tab):
    with stripes.tab(queue=1) as slow:
        slow.next("scene")
        number = max(stripes.page.clients)
        time.sleep(1.0)  # reads nothing; others go on
        assert tab.frame()
        client = stripes.page.clients[number]
        assert len(client.events) < 20
        assert client.frame is None or len(client.frame) < 10_000
        newest = tab.frame()["seen"]
        assert slow.frame(where=lambda frame: frame["seen"] >= newest)


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
        assert "a mistake of this program's" in tab.next("notice")["text"]
    assert "ZeroDivisionError" in capfd.readouterr().err
    tab.send("resume")
    assert tab.frame(where=lambda frame: frame["state"] == "running")


def test_a_question_that_nobody_waits_for_any_more_does_no_harm(stripes, tab):
    run = stripes.page.run
    begun, rest = threading.Event(), threading.Event()
    slow = run.ask(lambda trial: (begun.set(), rest.wait(10)))
    begun.wait(10)
    forgotten = run.ask(lambda trial: trial.seen)
    assert forgotten.cancel()
    rest.set()
    slow.result(10)
    assert run.ask(lambda trial: trial.seen).result(10) >= 0


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
