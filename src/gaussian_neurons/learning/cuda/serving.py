"""Tasks of other processes: one process uses the GPU for all, since kernels of several would take turns.

A client sends the tasks of a batch in one message, without the images that they draw from. The server
receives these once, from the first client that needs them.
"""

import pickle
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from io import BytesIO
from multiprocessing import AuthenticationError
from multiprocessing.connection import Client, Connection, Listener
from secrets import token_bytes
from typing import Any, NamedTuple

from numpy.typing import NDArray

from gaussian_neurons.learning.cuda.task import place
from gaussian_neurons.sampling.stream import fingerprint
from gaussian_neurons.sampling.undrawn import Undrawn

Array = NDArray[Any]


class Address(NamedTuple):
    """Where the server of a GPU listens, and the key that it asks for."""

    place: str
    key: bytes


@contextmanager
def served(compute: Callable[[Sequence[Any]], list[Any]]) -> Iterator[Address]:
    """Let other processes compute tasks in this one."""
    key, images, ended = token_bytes(16), _Images(), threading.Event()
    with Listener(authkey=key) as listener:

        def accept() -> None:
            while True:
                with suppress(OSError, EOFError, AuthenticationError):  # of a client that is none, or ends
                    connection = listener.accept()
                    if ended.is_set():
                        return
                    threading.Thread(target=_serve, args=(connection, compute, images), daemon=True).start()

        thread = threading.Thread(target=accept, daemon=True)
        thread.start()
        where = str(listener.address)
        try:
            yield Address(where, key)
        finally:
            ended.set()
            Client(where, authkey=key).close()  # or `accept` would wait
            thread.join()


class Remote:
    """The computation of a server; each thread has a connection of its own.

    Parameters
    ----------
    address : of the server
    """

    def __init__(self, address: Address) -> None:
        self._address, self._own = address, threading.local()
        self._keys: dict[Any, tuple[Array, str]] = {}  # of arrays by their place, which they keep while here
        self._finding = threading.Lock()

    @contextmanager
    def connected(self) -> Iterator[None]:
        """Connect this thread."""
        with Client(self._address.place, authkey=self._address.key) as connection:
            self._own.connection, self._own.sent = connection, set[str]()
            yield

    def compute(self, tasks: Sequence[Any]) -> list[Any]:
        """What the server computes for these tasks."""
        connection: Connection = self._own.connection
        lasting = {}
        for rows in (task.samples for task in tasks if isinstance(task.samples, Undrawn)):
            for array in (rows.stream.images, rows.stream.chosen):
                if array is not None:
                    lasting[id(array)] = self._key(array)
                    self._send_once(array, lasting[id(array)])
        file = BytesIO()
        _Pickler(file, lasting).dump(list(tasks))
        connection.send_bytes(file.getbuffer())
        found: list[Any] | Exception = connection.recv()
        if isinstance(found, Exception):
            raise found
        return found

    def _key(self, array: Array) -> str:
        with self._finding:
            here = place(array)
            if here not in self._keys:
                self._keys[here] = array, fingerprint(array)
            return self._keys[here][1]

    def _send_once(self, array: Array, key: str) -> None:
        if key in self._own.sent:
            return
        connection: Connection = self._own.connection
        connection.send_bytes(ASKS + key.encode())
        if not connection.recv():
            connection.send(array)
        self._own.sent.add(key)


class _Pickler(pickle.Pickler):
    """Writes the keys of arrays that the other process has in their place."""

    def __init__(self, file: BytesIO, keys: Mapping[int, str]) -> None:
        super().__init__(file, pickle.HIGHEST_PROTOCOL)
        self._keys = keys  # by the id of an array

    def persistent_id(self, value: Any) -> str | None:
        return self._keys.get(id(value))


class _Unpickler(pickle.Unpickler):
    """Puts the arrays back."""

    def __init__(self, message: bytes, images: "_Images") -> None:
        super().__init__(BytesIO(message))
        self._images = images

    def persistent_load(self, key: str) -> Array:
        return self._images[key]


ASKS = b"?"  # begins a message that asks whether the server has an array; a pickle begins otherwise


class _Images:
    """The arrays that clients send once."""

    def __init__(self) -> None:
        self._arrays: dict[str, Array] = {}
        self._receiving = threading.Lock()

    def __getitem__(self, key: str) -> Array:
        return self._arrays[key]

    def ensure(self, key: str, connection: Connection) -> None:
        """Say whether the array is here, and receive it if it is not; other clients wait for that."""
        with self._receiving:
            connection.send(key in self._arrays)
            if key not in self._arrays:
                self._arrays[key] = connection.recv()


def _serve(connection: Connection, compute: Callable[[Sequence[Any]], list[Any]], images: _Images) -> None:
    """Answer a client until it ends."""
    with connection, suppress(EOFError, OSError):
        while True:
            message = connection.recv_bytes()
            if message.startswith(ASKS):
                images.ensure(message[len(ASKS) :].decode(), connection)
                continue
            try:
                found: list[Any] | Exception = compute(_Unpickler(message, images).load())
            except Exception as error:
                found = error
            connection.send(found)
