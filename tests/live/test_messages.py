"""What the server makes of nonsense."""

import json
import random
import threading
from contextlib import ExitStack

import pytest
from websockets.exceptions import ConnectionClosed

from gaussian_neurons.live import messages
from gaussian_neurons.live import server as serving
from tests.live.serving import MIXTURE, STRIPES, asked, served
from tests.waiting import PATIENCE, wait_for


@pytest.fixture
def tab(plain_tab):
    return plain_tab


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
        wait_for(lambda: not one.page.clients)
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
            "K (neurons) must be a whole number from 1 to 400, got 1000000.",
        ),
        ({"do": "start", "setup": {"K": 1_000_000}}, "K (neurons) must be"),
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
            more.socket.recv(timeout=PATIENCE)
        assert closed.value.rcvd.code == serving.TOO_MANY_CLIENTS
    wait_for(lambda: not stripes.page.clients)
