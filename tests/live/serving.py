"""A server in a thread of this process, and tabs that talk to it without a browser."""

import http.client
import json
import threading
import time
from contextlib import contextmanager

import numpy as np
from websockets.sync.client import connect

from gaussian_neurons.live.frames import decoded
from gaussian_neurons.live.server import Page, listen, server
from gaussian_neurons.live.setup import Setup
from gaussian_neurons.live.sources import Images, Sources
from tests.waiting import PATIENCE, wait_for


def stripes(count=20, side=12):
    """Images with bright lines, upright or level: labels 1 and 0."""
    images = np.zeros((count, side, side), np.uint8)
    labels = np.arange(count) % 2
    for k, image in enumerate(images):
        at = 2 + k % (side - 4)
        image[(slice(None), slice(at, at + 2)) if labels[k] else (slice(at, at + 2), slice(None))] = 255
    return Images(images, labels, ("level", "upright"), "stripes", ("images = None",))


def striped_sources():
    """No published data; the file that was given holds stripes."""
    sources = Sources(None, stripes())
    sources._absent |= {"mnist": "not here", "cifar10": "not here"}
    return sources


STRIPES = Setup("file", 6, 1.0, size=4, speed=100_000.0)  # fast, and leaves the browser some of the machine
MIXTURE = Setup("mixture", 8, 0.01, learning_rate=0.001, speed=2000.0)


class Served:
    """A server that runs."""

    def __init__(self, page, port, stop, connections):
        self.page, self.port, self.stop = page, port, stop
        self.connections = connections  # that are open
        self.url = f"http://127.0.0.1:{port}/"

    def ask(self, question):
        """The answer to a question about the trial."""
        return self.page.run.ask(question).result(PATIENCE)

    def tab(self, **hello):
        return Tab(self.port, **hello)


@contextmanager
def served(setup=STRIPES, sources=None, host="127.0.0.1", token=None, port=0):
    page = Page(sources or striped_sources(), setup)
    bound = listen(host, port)
    running = server(page, host, token)
    thread = threading.Thread(target=running.run, kwargs={"sockets": [bound]})
    thread.start()

    def stop():
        running.should_exit = True
        thread.join(PATIENCE)
        bound.close()

    try:
        wait_for(lambda: running.started)
        yield Served(page, bound.getsockname()[1], stop, running.server_state.connections)
    finally:
        stop()


def asked(served, path="/", method="GET", **headers):
    """Status, headers and text of an answer."""
    connection = http.client.HTTPConnection("127.0.0.1", served.port, timeout=PATIENCE)
    given = {"Host": f"127.0.0.1:{served.port}"} | {k.replace("_", "-"): v for k, v in headers.items()}
    connection.request(method, path, headers=given)
    answer = connection.getresponse()
    body = answer.read()
    connection.close()
    return answer.status, dict(answer.getheaders()), body


class Tab:
    """A page without a browser."""

    def __init__(self, port, origin=None, greet=True, headers=None, queue=None, sock=None, **hello):
        self._opened = connect(
            f"ws://127.0.0.1:{port}/live",
            origin=origin or f"http://127.0.0.1:{port}",
            additional_headers=headers,
            max_size=None,
            max_queue=queue,
            open_timeout=PATIENCE,
            close_timeout=1,
            compression=None,
            **({} if sock is None else {"sock": sock}),
        )
        self.socket = self._opened.__enter__()
        if greet:
            self.send("hello", **hello)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self._opened.__exit__(None, None, None)

    def send(self, do, **arguments):
        self.socket.send(json.dumps({"do": do, **arguments}))

    def next(self, *kinds, where=lambda message: True):
        """The next message of these kinds; binary ones as facts with their arrays."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            data = self.socket.recv(timeout=PATIENCE)
            if isinstance(data, str):
                message = json.loads(data)
            else:
                facts, arrays = decoded(data)
                message = {"type": facts["kind"], **facts, **arrays}
            if message["type"] in kinds and where(message):
                return message
        raise AssertionError(f"no {kinds} came")

    def frame(self, where=lambda frame: True):
        return self.next("frame", where=where)
