"""A server in a thread of this process, and clients without a browser."""

import http.client
import json
import struct
import threading
import time
from contextlib import contextmanager

import numpy as np
from websockets.sync.client import connect

from gaussian_neurons.live.server import Application, listen, make_server
from gaussian_neurons.live.setup import Setup
from gaussian_neurons.live.sources import ABSENT, SUBSTITUTES, Images, Sources
from tests.waiting import PATIENCE, wait_for


def stripes(count=20, side=12):
    """Images with a bright line: label 0 horizontal, label 1 vertical."""
    images = np.zeros((count, side, side), np.uint8)
    labels = np.arange(count) % 2
    for k, image in enumerate(images):
        at = 2 + k % (side - 4)
        image[(slice(None), slice(at, at + 2)) if labels[k] else (slice(at, at + 2), slice(None))] = 255
    return Images(images, labels, ("horizontal", "vertical"), "stripes", ("images = None",))


def striped_sources():
    """No published data; the given file holds stripes."""
    sources = Sources(None, stripes())
    sources._absent |= {name: ABSENT.format(name=name) for name in SUBSTITUTES}
    return sources


STRIPES = Setup("file", 6, 1.0, size=4, speed=100_000.0)  # the limit leaves time for the browser
MIXTURE = Setup("mixture", 8, 0.01, learning_rate=0.001, speed=2000.0)


class Served:
    """A running server."""

    def __init__(self, application, port, stop, connections):
        self.application, self.port, self.stop = application, port, stop
        self.connections = connections  # open HTTP connections
        self.run = application.run
        self.url = f"http://127.0.0.1:{port}/"

    def query(self, question):
        """The result of a function of the trial."""
        return self.run.query(question).result(PATIENCE)

    def until(self, condition):
        """Wait until a condition of the trial holds."""
        return wait_for(lambda: self.query(condition))

    def tab(self, **hello):
        return Tab(self.port, **hello)


@contextmanager
def served(setup=STRIPES, sources=None, host="127.0.0.1", token=None, port=0, running=True):
    application = Application(sources or striped_sources(), setup)
    application.run.running = running
    bound = listen(host, port)
    running = make_server(application, host, token)
    running.config.ws_ping_interval = None  # on a busy machine, pongs may be late
    thread = threading.Thread(target=running.run, kwargs={"sockets": [bound]})
    thread.start()

    def stop():
        running.should_exit = True
        thread.join(PATIENCE)
        bound.close()

    try:
        wait_for(lambda: running.started)
        yield Served(application, bound.getsockname()[1], stop, running.server_state.connections)
    finally:
        stop()


def request(served, path="/", method="GET", **headers):
    """Status, headers and body of a response."""
    connection = http.client.HTTPConnection("127.0.0.1", served.port, timeout=PATIENCE)
    given = {"Host": f"127.0.0.1:{served.port}"} | {k.replace("_", "-"): v for k, v in headers.items()}
    connection.request(method, path, headers=given)
    response = connection.getresponse()
    body = response.read()
    connection.close()
    return response.status, dict(response.getheaders()), body


def decoded(message):
    """Facts and arrays of a binary message."""
    (length,) = struct.unpack_from("<I", message)
    facts = json.loads(message[4 : 4 + length])
    arrays = {}
    for name, about in facts.pop("arrays").items():
        count = int(np.prod(about["shape"], dtype=np.int64))
        flat = np.frombuffer(message, np.dtype(about["dtype"]), count, 4 + length + about["offset"])
        arrays[name] = flat.reshape(about["shape"])
    return facts, arrays


class Tab:
    """A client without a browser."""

    def __init__(self, port, origin=None, greet=True, headers=None, queue=None, sock=None, **hello):
        self._opened = connect(
            f"ws://127.0.0.1:{port}/live",
            origin=origin or f"http://127.0.0.1:{port}",
            additional_headers=headers,
            max_size=None,
            max_queue=queue,
            open_timeout=PATIENCE,
            close_timeout=1,
            ping_interval=None,
            compression=None,
            **({} if sock is None else {"sock": sock}),
        )
        self.socket = self._opened.__enter__()
        self.generation = None  # of the last scene
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
        """The next message of these kinds; binary messages as facts with their arrays."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            data = self.socket.recv(timeout=PATIENCE)
            if isinstance(data, str):
                message = json.loads(data)
            else:
                facts, arrays = decoded(data)
                message = {"type": facts["kind"], **facts, **arrays}
            if message["type"] == "scene":
                self.generation = message["generation"]
            elif message["type"] == "frame" and message["generation"] != self.generation:
                continue  # of an earlier trial: events are sent before a waiting frame
            if message["type"] in kinds and where(message):
                return message
        raise AssertionError(f"no message of {kinds}")

    def frame(self, where=lambda frame: True):
        return self.next("frame", where=where)
