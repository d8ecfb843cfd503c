"""Prefetch: draw the next chunk of a stream in a second thread while the current one is used."""

import threading
from collections.abc import Generator
from queue import SimpleQueue

from gaussian_neurons.sampling.stream import Chunk, Stream

NUMBERS_AT_ONCE = 1 << 19  # in one chunk: 2 MiB of float32
MOST_ROWS = 1 << 14  # in one chunk
ENDLESS = 1 << 62


def rows_at_once(n_features: int | None) -> int:
    """The number of rows in a chunk, for rows of this length."""
    return max(1, min(MOST_ROWS, NUMBERS_AT_ONCE // (n_features or 16)))


def chunks_ahead(
    stream: Stream, first: int, end: int | None, every: int, start: int
) -> Generator[Chunk, None, None]:
    """Yield the chunks from row `first` to row `end` (None: to the end of the stream).

    Every chunk ends at or before the next multiple of `every` rows after `start`. If the stream allows it,
    a second thread draws the next chunk while the caller uses the current one.
    """

    def chunk_size(at: int) -> int:
        to_multiple = every - (at - start) % every
        left = to_multiple if end is None else min(to_multiple, end - at)
        return min(rows_at_once(stream.n_features), left)

    if not stream.in_a_thread:
        while end is None or first < end:
            chunk = stream._drawn(first, chunk_size(first))
            if not chunk.taken:
                return
            yield chunk
            first += chunk.taken
        return
    if end is not None and first >= end:
        return
    prefetcher = _Prefetcher(stream)
    try:
        prefetcher.start()  # inside the try block: after an interrupt, the thread still ends
        prefetcher.request(first, chunk_size(first))
        while (chunk := prefetcher.result()).taken:
            first += chunk.taken
            more = end is None or first < end
            if more:
                prefetcher.request(first, chunk_size(first))
            yield chunk
            if not more:
                return
    finally:
        prefetcher.stop()


class Feed:
    """A stream without end in portions of any size, drawn ahead."""

    def __init__(self, stream: Stream, first: int) -> None:
        self._chunks = chunks_ahead(stream, first, None, ENDLESS, first)
        self._rest: Chunk | None = None

    def next(self) -> Chunk:
        """The rows that are drawn, at least one. They are not taken."""
        if self._rest is None or not self._rest.taken:
            self._rest = next(self._chunks)
        return self._rest

    def take(self, most: int) -> Chunk:
        """The next rows, at least one and at most `most`."""
        taken, self._rest = self.next().cut(most)
        return taken

    def close(self) -> None:
        """Stop the thread."""
        self._chunks.close()


class _Prefetcher:
    """A thread that draws chunks. An interrupt cannot leave a SimpleQueue locked."""

    def __init__(self, stream: Stream) -> None:
        self.stream = stream
        self.requests: SimpleQueue[tuple[int, int] | None] = SimpleQueue()  # first row, count; None: stop
        self._results: SimpleQueue[Chunk | BaseException] = SimpleQueue()
        self._thread = threading.Thread(target=self._work, name="stream", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self.requests.put(None)
        if self._thread.is_alive():
            self._thread.join()

    def _work(self) -> None:
        while (request := self.requests.get()) is not None:
            try:
                self._results.put(self.stream._drawn(*request))
            except BaseException as error:  # raised again in the thread that waits for the chunk
                self._results.put(error)

    def request(self, first: int, count: int) -> None:
        self.requests.put((first, count))

    def result(self) -> Chunk:
        result = self._results.get()
        if isinstance(result, BaseException):
            raise result
        return result
