"""Invalid messages to the server."""

import json
import random
import threading
from contextlib import ExitStack

import pytest
from websockets.exceptions import ConnectionClosed

from gaussian_neurons.live import commands as messages
from gaussian_neurons.live import server as serving
from tests.live.serving import MIXTURE, STRIPES, request, served
from tests.waiting import PATIENCE, wait_for

VALUES = [None, True, -1, 0, 3, 1e308, 10**40, "", "x" * 50, [], {}, [[]], {"a": 1}, [1, 2], "figure2a", "K"]
NAMES = ["setup", "name", "value", "neuron", "to", "at", "points", "count", "seed", "link", "run_name"]


def random_message(random):
    """A message that is invalid in most cases."""
    value, name = random.choice(VALUES), random.choice(NAMES)
    do = random.choice([*messages.MESSAGES, "disconnect", "__class__", "", None, 7])
    kind = random.randrange(6)
    if kind == 0:
        return random.randbytes(random.randrange(60)).decode("latin-1")
    if kind == 1:
        return json.dumps(value)
    if kind == 2:
        return "[" * random.randrange(2000)
    text = json.dumps({"do": do, name: value, random.choice(["a", "value", "neuron", "setup"]): value})
    return text[: random.randrange(len(text))] if kind == 3 else text


def test_the_server_survives_ten_thousand_random_messages():
    generator = random.Random(7)
    with served(MIXTURE) as one:
        sent = closed = 0
        while sent < 10_000:
            with one.tab() as client:
                reader = threading.Thread(target=_read_all, args=(client,))
                reader.start()
                try:
                    for _ in range(2500):
                        text = random_message(generator)
                        client.socket.send(text.encode() if generator.random() < 0.02 else text)
                        sent += 1
                except ConnectionClosed:
                    closed += 1
                client.socket.close()
                reader.join()
        assert closed < 100
        wait_for(lambda: not one.application.clients)
        with one.tab() as client:
            client.send("start", setup=STRIPES.as_json())
            frame = client.frame(where=lambda frame: frame["seen"] > 1000 and len(frame["ids"]) == 6)
            assert frame["state"] == "running"
        assert request(one)[0] == 200
        assert one.run._thread.is_alive()


def _read_all(client):
    try:
        for _ in client.socket:
            pass
    except ConnectionClosed:
        pass


def test_a_message_that_is_too_long_ends_its_connection_only(stripes, client):
    with stripes.tab() as other:
        other.socket.send("x" * (messages.MAX_LENGTH + 1))
        with pytest.raises(ConnectionClosed) as closed:
            other.next("nothing")
    assert closed.value.rcvd.code == 1009
    assert client.frame()


@pytest.mark.parametrize(
    ("message", "text"),
    [
        ({"do": "set", "name": "K", "value": 1_000_000}, "K (neurons) must be"),
        ({"do": "start", "setup": {"K": 1_000_000}}, "K (neurons) must be"),
        ({"do": "start", "setup": {"data": "mnist"}}, "MNIST: not found"),
        ({"do": "start", "setup": {"size": 28}}, "12 x 12"),
        ({"do": "set", "name": "classes", "value": [5]}, "label"),
        ({"do": "preset", "name": "figure9"}, "'figure9'"),
        ({"do": "move", "neuron": 1, "to": [0, 0]}, "in the plane only"),
        ({"do": "noise"}, "in the plane only"),
    ],
)
def test_an_impossible_command_is_reported_and_changes_nothing(client, message, text):
    client.socket.send(json.dumps(message))
    assert text in client.next("notice")["text"]
    assert client.frame()["ids"].tolist() == [1, 2, 3, 4, 5, 6]


@pytest.mark.parametrize("first", ['{"do": "pause"}', "{", b"\x00\x01"])
def test_the_first_message_must_be_hello(stripes, client, first):
    with stripes.tab(greet=False) as other:
        other.socket.send(first)
        with pytest.raises(ConnectionClosed) as closed:
            other.next("nothing")
    assert closed.value.rcvd.code == serving.NO_HELLO
    assert client.frame()["state"] == "running"


def test_the_number_of_clients_is_limited(stripes):
    wait_for(lambda: not stripes.application.clients)
    with ExitStack() as opened:
        for _ in range(serving.MAX_CLIENTS):
            assert opened.enter_context(stripes.tab()).next("welcome")
        more = opened.enter_context(stripes.tab())
        with pytest.raises(ConnectionClosed) as closed:
            more.socket.recv(timeout=PATIENCE)
        assert closed.value.rcvd.code == serving.TOO_MANY_CLIENTS
    wait_for(lambda: not stripes.application.clients)


@pytest.mark.parametrize("depth", [200, 900, 5000])
def test_deep_nesting_is_refused(depth):
    deep = "[" * depth + "]" * depth
    for text in (deep, f'{{"do": "set", "name": "K", "value": {deep}}}'):
        with pytest.raises(ValueError, match=r"A message must be JSON: .*100 levels deep"):
            messages.parse(text)
