"""Whom the server waits for, and how long: tabs that are slow or silent, requests that never end."""

import asyncio
import http.client
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from starlette.websockets import WebSocketDisconnect
from websockets.exceptions import ConnectionClosed

from gaussian_neurons.live import guard
from gaussian_neurons.live import server as serving
from gaussian_neurons.live.frames import decoded
from gaussian_neurons.live.setup import Setup
from gaussian_neurons.live.sources import Images, Sources
from tests.live.serving import STRIPES, asked, served
from tests.waiting import PATIENCE, wait_for

pytestmark = pytest.mark.alone


def test_who_does_not_say_hello_is_not_waited_for(monkeypatch):
    with served(STRIPES) as one, one.tab() as tab:
        assert tab.next("welcome")
        monkeypatch.setattr(serving, "GREETING", 1.0)
        with one.tab(greet=False) as silent, pytest.raises(ConnectionClosed):
            silent.socket.recv(timeout=PATIENCE)
        wait_for(lambda: len(one.page.clients) == 1)
        time.sleep(1.2)
        assert tab.frame()


# Frames of 90 kB: what the system holds back for a tab that does not read is soon full.
LARGE = Setup("file", 160, 10.0, size=14, speed=20_000.0)


def large():
    images = np.random.default_rng(0).integers(0, 256, (20, 40, 40, 3), np.uint8)
    return Sources(None, Images(images, None, (), "noise", ("images = None",)))


def small_socket(one):
    """A connection that is full as soon as nobody reads."""
    raw = socket.socket()
    raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    raw.connect(("127.0.0.1", one.port))
    return raw


def silent_tab(one):
    """A tab that says hello, and then takes nothing."""
    raw = small_socket(one)
    return raw, one.tab(queue=1, sock=raw)


def until_nothing_goes_out(client):
    """Wait until frames come for a client and none is taken."""
    taken, take = [], client.next

    def noted():
        taken.append(client.frame)
        return take()

    client.next = noted
    quiet = 0
    while quiet < 5:
        frame, before = client.frame, len(taken)
        wait_for(lambda frame=frame: client.frame is not frame)
        quiet = quiet + 1 if len(taken) == before else 0


def test_a_slow_tab_gets_the_newest_frame_and_takes_no_memory():
    with served(LARGE, large()) as one, one.tab() as tab:
        raw, slow = silent_tab(one)
        with raw, slow:
            slow.next("scene")
            client = one.page.clients[max(one.page.clients)]
            until_nothing_goes_out(client)
            told = [0]
            for _ in range(20):
                last = client.frame
                wait_for(lambda last=last: client.frame is not last)
                told.append(decoded(client.frame)[0]["seen"])
                assert told[-1] > told[-2]
                assert len(client.events) < 20
            assert tab.frame(where=lambda frame: frame["seen"] >= told[-1])  # others have it, too
            slow.frame(where=lambda frame: frame["seen"] >= told[-1])  # reads again: soon it is up to date


def test_a_tab_that_takes_nothing_is_let_go_and_the_work_stops(monkeypatch):
    monkeypatch.setattr(serving, "STALLED", 0.5)
    with served(LARGE, large()) as one:
        raw, slow = silent_tab(one)
        with raw:
            wait_for(lambda: one.page.run.touched)
            wait_for(lambda: not one.page.clients)
            wait_for(lambda: not one.page.run.watching)
            seen = one.page.run.trial.seen
            time.sleep(0.3)
            assert one.page.run.trial.seen == seen
            monkeypatch.undo()
            with one.tab() as tab:
                assert tab.frame(where=lambda frame: frame["seen"] > seen)
        slow.close()


def read_on(tab):
    while True:
        tab.socket.recv(timeout=PATIENCE)


@pytest.mark.parametrize("words", [True, False])
def test_a_tab_that_is_too_far_behind_has_to_begin_anew(words):
    with served(LARGE, large()) as one:
        raw, slow = silent_tab(one)
        with raw:
            client = wait_for(lambda: next(iter(one.page.clients.values()), None))
            until_nothing_goes_out(client)
            most, size = (serving.MOST_EVENTS, 10) if words else (9, 1 << 20)
            loop = one.page._loop
            for number in range(2 * most):
                loop.call_soon_threadsafe(client.tell, f"{number} ".ljust(size), False)
            wait_for(lambda: client.behind)
            assert len(client.events) <= most
            assert client.waiting <= serving.MOST_BYTES
            with pytest.raises(ConnectionClosed) as closed:
                read_on(slow)
            assert closed.value.rcvd.code == serving.BEHIND
            wait_for(lambda: not one.page.clients)
        slow.close()


@pytest.mark.parametrize(
    "begun", ["", "GET / HTTP/1.1\r\nX: ", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 99\r\n\r\n"]
)
def test_who_never_ends_a_request_is_hung_up_on(monkeypatch, begun):
    def drip(raw):
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            raw.sendall(b"a")
            time.sleep(0.02)

    with served(STRIPES) as one, one.tab() as tab:
        assert tab.next("welcome")
        monkeypatch.setattr(guard, "PATIENCE", 1.0)
        with socket.create_connection(("127.0.0.1", one.port), timeout=PATIENCE) as raw:
            raw.sendall(begun.encode())
            with pytest.raises(OSError, match=r"reset|pipe"):
                drip(raw)
        monkeypatch.undo()
        wait_for(lambda: one.page.run.pace.speed())
        time.sleep(1.2)
        seen = one.page.run.trial.seen
        assert tab.frame(where=lambda frame: frame["seen"] > seen)  # who has become a WebSocket stays
        assert asked(one)[0] == 200


def test_who_asks_in_time_may_go_on_and_slow_answers_are_waited_for():
    with served(STRIPES) as one:
        connection = http.client.HTTPConnection("127.0.0.1", one.port, timeout=PATIENCE)
        connection.connect()
        kept, ours = connection.sock, wait_for(lambda: next(iter(one.connections), None))
        for _ in range(3):
            before = ours._waiting
            connection.request("GET", "/page/main.js")
            assert connection.getresponse().read()
            wait_for(lambda before=before: ours._waiting is not before)  # patience begins anew
            assert before.cancelled()
        rest = threading.Event()
        one.page.run.ask(lambda trial: rest.wait(PATIENCE))
        connection.request("GET", "/script.py")
        wait_for(lambda: not ours.cycle.response_complete)
        one.page._loop.call_soon_threadsafe(ours._give_up)  # patience is over, and we are the slow ones
        one.page._loop.call_soon_threadsafe(rest.set)
        assert b"GaussianNeurons" in connection.getresponse().read()
        assert connection.sock is kept  # always the same
        connection.close()


def test_a_websocket_that_follows_a_request_at_once_stays():
    with served(STRIPES) as one, socket.create_connection(("127.0.0.1", one.port), timeout=PATIENCE) as raw:
        ours = wait_for(lambda: next(iter(one.connections), None))
        here = f"127.0.0.1:{one.port}"
        raw.sendall(
            f"GET /page/main.js HTTP/1.1\r\nHost: {here}\r\n\r\nGET /live HTTP/1.1\r\nHost: {here}\r\n"
            f"Origin: http://{here}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n".encode()
        )
        wait_for(lambda: one.page.clients)
        assert ours._waiting.cancelled()  # nobody counts the seconds any more


@pytest.mark.skipif(not hasattr(socket, "TCP_USER_TIMEOUT"), reason="only Linux hangs up on who never reads")
def test_who_never_reads_an_answer_keeps_no_connection(monkeypatch):
    monkeypatch.setattr(serving, "STALLED", 1.0)
    monkeypatch.setattr(guard, "PATIENCE", 0.5)
    with served(STRIPES) as one:
        silent, made = [], []
        begin = guard.Impatient.connection_made
        noted = lambda self, transport: (made.append(self), begin(self, transport))  # noqa: E731
        monkeypatch.setattr(guard.Impatient, "connection_made", noted)
        for _ in range(5):
            raw = small_socket(one)
            raw.sendall(f"GET /page/style.css HTTP/1.1\r\nHost: 127.0.0.1:{one.port}\r\n\r\n".encode() * 60)
            silent.append(raw)
        wait_for(lambda: len(made) == 5 and not one.connections)
        for raw in silent:
            raw.close()
        monkeypatch.undo()
        assert asked(one)[0] == 200


def test_a_tab_that_is_gone_is_sent_no_more_of_what_waits():
    class Gone:
        sent, is_gone = 0, False

        async def send_text(self, text):
            if self.is_gone:
                raise WebSocketDisconnect
            self.sent += 1

    async def sending():
        socket, client = Gone(), serving.Client()
        for number in range(100):
            client.tell(f"{number}", is_frame=False)
        task = asyncio.create_task(serving._send(socket, client))
        asyncio.get_running_loop().call_soon(setattr, socket, "is_gone", True)
        await asyncio.wait_for(task, PATIENCE)
        return socket.sent

    with ThreadPoolExecutor() as elsewhere:  # Playwright may have a loop in this thread
        assert elsewhere.submit(asyncio.run, sending()).result() < 5
