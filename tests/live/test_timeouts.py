"""Slow and silent clients, and requests that never end."""

import asyncio
import http.client
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress

import numpy as np
import pytest
from starlette.websockets import WebSocketDisconnect
from websockets.exceptions import ConnectionClosed

from gaussian_neurons.live import guard
from gaussian_neurons.live import server as serving
from gaussian_neurons.live.setup import Setup
from gaussian_neurons.live.sources import Images, Sources
from tests.live.serving import STRIPES, decoded, request, served
from tests.waiting import PATIENCE, wait_for


def test_a_client_that_does_not_send_hello_is_disconnected(monkeypatch):
    with served(STRIPES) as one, one.tab() as client:
        assert client.next("welcome")
        monkeypatch.setattr(serving, "HELLO_TIMEOUT", 0.2)
        with one.tab(greet=False) as silent, pytest.raises(ConnectionClosed):
            silent.socket.recv(timeout=PATIENCE)
        assert client.frame()  # this one has sent it


def test_clients_that_do_not_send_hello_lock_nobody_out():
    with served(STRIPES) as one, ExitStack() as opened:
        silent = [opened.enter_context(one.tab(greet=False)) for _ in range(2 * serving.MAX_CLIENTS)]
        assert opened.enter_context(one.tab()).next("welcome")
        silent[-1].send("hello")
        assert silent[-1].next("welcome")


# Frames of 90 kB soon fill the buffers of a client that does not read.
LARGE = Setup("file", 16, 100.0, size=28, speed=500.0)


def large():
    images = np.random.default_rng(0).integers(0, 256, (20, 40, 40, 3), np.uint8)
    return Sources(None, Images(images, None, (), "noise", ("images = None",)))


def small_socket(one):
    """A connection with a small receive buffer."""
    raw = socket.socket()
    raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    raw.connect(("127.0.0.1", one.port))
    return raw


def silent_client(one):
    """A client that sends hello and then reads nothing."""
    raw = small_socket(one)
    return raw, one.tab(queue=1, sock=raw)


def until_blocked(client):
    """Wait until frames replace each other because none is sent."""
    sent, get = [], client.get

    def counted():
        sent.append(client.frame)
        return get()

    client.get = counted
    blocked = 0
    while blocked < 5:
        frame, before = client.frame, len(sent)
        wait_for(lambda frame=frame: client.frame is not frame)
        blocked = blocked + 1 if len(sent) == before else 0


def test_a_slow_client_gets_the_newest_frame_and_its_queue_stays_short(monkeypatch):
    monkeypatch.setattr(serving, "SEND_TIMEOUT", 600.0)  # on a busy machine, frames are slow
    monkeypatch.setattr(serving, "SEND_BUFFER", 1 << 14)
    with served(LARGE, large()) as one, one.tab() as other:
        raw, slow = silent_client(one)
        with raw, slow:
            slow.next("scene")
            client = one.application.clients[max(one.application.clients)]
            until_blocked(client)
            seen = [0]
            for _ in range(5):
                last = client.frame
                wait_for(lambda last=last: client.frame is not last)
                seen.append(decoded(client.frame)[0]["seen"])
                assert seen[-1] > seen[-2]
                assert len(client.events) < 20
            assert other.frame(where=lambda frame: frame["seen"] >= seen[-1])
            slow.frame(where=lambda frame: frame["seen"] >= seen[-1])  # reads again


def test_a_client_that_reads_nothing_is_disconnected_and_learning_stops(monkeypatch):
    monkeypatch.setattr(serving, "SEND_TIMEOUT", 0.5)
    with served(LARGE, large()) as one:
        raw, slow = silent_client(one)
        with raw:
            wait_for(lambda: one.run.visited)
            wait_for(lambda: not one.application.clients)
            wait_for(lambda: not one.run.clients)
            seen = one.query(lambda trial: trial.seen)
            time.sleep(0.2)
            assert one.query(lambda trial: trial.seen) == seen
            monkeypatch.undo()
            with one.tab() as client:
                assert client.frame(where=lambda frame: frame["seen"] > seen)
        slow.close()


def test_the_queue_of_a_client_is_bounded():
    full, client = serving.Client(), serving.Client()
    for number in range(9):
        assert not full.overflow
        full.put(f"{number}".ljust(1 << 20), is_frame=False)
    assert full.overflow
    assert full.waiting <= serving.MAX_BYTES
    client.put("event", is_frame=False)
    for frame in (b"older", b"frame"):
        client.put(frame, is_frame=True)
    assert [client.get() for _ in range(3)] == ["event", b"frame", None]
    assert client.waiting == 0


def test_a_client_whose_queue_overflows_is_disconnected():
    def fill(client):
        for _ in range(9):
            client.put('{"type": "large"}'.ljust(1 << 20), is_frame=False)

    with served(STRIPES) as one, one.tab() as tab:
        tab.next("scene")
        (client,) = one.application.clients.values()
        one.application._loop.call_soon_threadsafe(fill, client)
        with pytest.raises(ConnectionClosed) as closed:
            tab.next("nothing")
        assert closed.value.rcvd.code == serving.OVERFLOW
        wait_for(lambda: not one.application.clients)


@pytest.mark.parametrize(
    "begun", ["", "GET / HTTP/1.1\r\nX: ", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 99\r\n\r\n"]
)
def test_an_unfinished_request_times_out(stripes, monkeypatch, begun):
    def drip(raw):
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            raw.sendall(b"a")
            time.sleep(0.02)

    monkeypatch.setattr(guard, "REQUEST_TIMEOUT", 0.3)
    with socket.create_connection(("127.0.0.1", stripes.port), timeout=PATIENCE) as raw:
        raw.sendall(begun.encode())
        with pytest.raises(OSError, match=r"reset|pipe"):
            drip(raw)
    monkeypatch.undo()
    assert request(stripes)[0] == 200


@pytest.fixture
def few(monkeypatch):
    """A limit of connections that is reached soon."""
    monkeypatch.setattr(guard, "MAX_CONNECTIONS", 10)
    return 10


@pytest.mark.parametrize(
    "begun", ["", "GET / HTTP/1.1\r\nX: ", "GET /live HTTP/1.1\r\nUpgrade: websocket\r\n"]
)
def test_unfinished_requests_lock_nobody_out(few, begun):
    """The oldest of them gives way, also if all of them go on sending."""
    with served(STRIPES) as one, one.tab() as client, ExitStack() as opened:
        held = [opened.enter_context(unfinished(one, begun)) for _ in range(3 * few)]
        for probe in range(10):
            for raw in held[-few::3]:
                with suppress(OSError):  # it may have given way
                    raw.sendall(b"a" if begun else b"G" if probe == 0 else b"E")
            assert request(one)[0] == 200
        assert client.frame(where=lambda frame: frame["seen"] > 0)
        with one.tab() as other:
            assert other.next("welcome")
        wait_for(lambda: len(one.connections) <= few)


def test_a_request_in_progress_does_not_give_way_to_unfinished_ones(few):
    with served(STRIPES) as one, ExitStack() as opened:
        blocked = threading.Event()
        one.run.query(lambda trial: blocked.wait(PATIENCE))
        connection = http.client.HTTPConnection("127.0.0.1", one.port, timeout=PATIENCE)
        connection.request("GET", "/script.py")
        wait_for(lambda: any(other.is_busy for other in one.connections))
        for _ in range(2 * few):
            opened.enter_context(unfinished(one, "GET"))
        assert request(one)[0] == 200
        blocked.set()
        assert b"GaussianNeurons" in connection.getresponse().read()
        connection.close()


def test_requests_in_progress_lock_nobody_out(few):
    with served(STRIPES) as one, ExitStack() as opened:
        blocked = threading.Event()
        one.run.query(lambda trial: blocked.wait(PATIENCE))
        complete = f"GET /script.py HTTP/1.1\r\nHost: 127.0.0.1:{one.port}\r\n\r\n"
        for _ in range(2 * few):
            opened.enter_context(unfinished(one, complete))
        assert request(one)[0] == 200
        blocked.set()


def test_websockets_that_do_not_answer_a_close_lock_nobody_out(few):
    with served(STRIPES, token="token") as one, ExitStack() as opened:
        host = f"127.0.0.1:{one.port}"
        for _ in range(2 * few):
            raw = opened.enter_context(unfinished(one, websocket_request(host)))
            assert b"101" in raw.recv(1000).split(b"\r\n")[0]
        assert request(one)[0] == 401


def unfinished(one, begun):
    """A connection that has sent the beginning of a request."""
    raw = socket.create_connection(("127.0.0.1", one.port), timeout=PATIENCE)
    raw.sendall(begun.encode())
    return raw


def websocket_request(host):
    return (
        f"GET /live HTTP/1.1\r\nHost: {host}\r\nOrigin: http://{host}\r\nConnection: Upgrade\r\n"
        "Upgrade: websocket\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
        "Sec-WebSocket-Version: 13\r\n\r\n"
    )


def test_every_request_restarts_the_timeout_and_a_slow_response_does_not_end_it():
    with served(STRIPES) as one:
        connection = http.client.HTTPConnection("127.0.0.1", one.port, timeout=PATIENCE)
        connection.connect()
        kept, protocol = connection.sock, wait_for(lambda: next(iter(one.connections), None))
        for _ in range(3):
            timer = protocol._timer
            connection.request("GET", "/page/main.js")
            assert connection.getresponse().read()
            wait_for(lambda timer=timer: protocol._timer is not timer)
            assert timer.cancelled()
        blocked = threading.Event()
        one.run.query(lambda trial: blocked.wait(PATIENCE))
        connection.request("GET", "/script.py")
        wait_for(lambda: not protocol.cycle.response_complete)
        one.application._loop.call_soon_threadsafe(protocol._time_out)
        one.application._loop.call_soon_threadsafe(blocked.set)
        assert b"GaussianNeurons" in connection.getresponse().read()
        assert connection.sock is kept  # the same connection
        connection.close()


def test_a_websocket_after_a_request_on_the_same_connection_has_no_timeout():
    with served(STRIPES) as one, socket.create_connection(("127.0.0.1", one.port), timeout=PATIENCE) as raw:
        protocol = wait_for(lambda: next(iter(one.connections), None))
        host = f"127.0.0.1:{one.port}"
        first = f"GET /page/main.js HTTP/1.1\r\nHost: {host}\r\n\r\n"
        raw.sendall((first + websocket_request(host)).encode())
        wait_for(lambda: protocol._timer.cancelled())


@pytest.mark.skipif(not hasattr(socket, "TCP_USER_TIMEOUT"), reason="needs TCP_USER_TIMEOUT, which Linux has")
def test_connections_that_never_read_are_closed(monkeypatch):
    monkeypatch.setattr(serving, "SEND_TIMEOUT", 0.5)
    monkeypatch.setattr(guard, "REQUEST_TIMEOUT", 0.3)
    with served(STRIPES) as one:
        silent, made = [], []
        original = guard.Connection.connection_made
        counted = lambda self, transport: (made.append(self), original(self, transport))  # noqa: E731
        monkeypatch.setattr(guard.Connection, "connection_made", counted)
        for _ in range(5):
            raw = small_socket(one)
            raw.sendall(f"GET /page/style.css HTTP/1.1\r\nHost: 127.0.0.1:{one.port}\r\n\r\n".encode() * 60)
            silent.append(raw)
        wait_for(lambda: len(made) == 5 and not one.connections)
        for raw in silent:
            raw.close()
        monkeypatch.undo()
        assert request(one)[0] == 200


def test_nothing_is_sent_after_a_disconnection():
    class Socket:
        sent, is_closed = 0, False

        async def send_text(self, text):
            if self.is_closed:
                raise WebSocketDisconnect
            self.sent += 1

    async def sending():
        socket, client = Socket(), serving.Client()
        for number in range(100):
            client.put(f"{number}", is_frame=False)
        task = asyncio.create_task(serving._send_all(socket, client))
        asyncio.get_running_loop().call_soon(setattr, socket, "is_closed", True)
        await asyncio.wait_for(task, PATIENCE)
        return socket.sent

    with ThreadPoolExecutor() as thread:  # Playwright may have an event loop in this thread
        assert thread.submit(asyncio.run, sending()).result() < 5
