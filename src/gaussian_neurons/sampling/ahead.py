"""Draw the next chunk of a stream while the last one is being used."""

import threading
from collections.abc import Generator
from queue import SimpleQueue

from gaussian_neurons.sampling.stream import Chunk, Stream

NUMBERS_AT_ONCE = 1 << 19  # in a chunk: 2 MiB of float32
MOST_ROWS = 1 << 14


def rows_at_once(n_features: int | None) -> int:
    """Rows in a chunk, whatever their length."""
    return max(1, min(MOST_ROWS, NUMBERS_AT_ONCE // (n_features or 16)))


def chunks_ahead(
    stream: Stream, first: int, end: int | None, every: int, start: int
) -> Generator[Chunk, None, None]:
    """Chunks from row `first` to row `end` or the end of the stream; none reaches over a multiple of `every`
    rows after `start`.

    Where the stream allows it, each is drawn in a second thread while the one before it is used.
    """

    def wanted(at: int) -> int:
        to_mark = every - (at - start) % every
        left = to_mark if end is None else min(to_mark, end - at)
        return min(rows_at_once(stream.n_features), left)

    if not stream.in_a_thread:
        while end is None or first < end:
            chunk = stream.draw(first, wanted(first))
            if not chunk.taken:
                return
            yield chunk
            first += chunk.taken
        return
    if end is not None and first >= end:
        return
    stream.wait()  # for one that a second interrupt left at work
    helper = _Helper(stream)
    try:
        helper.start()  # in here, so that an interrupt on the way leaves no thread that waits for ever
        helper.ask(first, wanted(first))
        while (chunk := helper.answer()).taken:
            first += chunk.taken
            more = end is None or first < end
            if more:
                helper.ask(first, wanted(first))
            yield chunk
            if not more:
                return
    finally:
        helper.questions.put(None)
        stream.wait()  # until it has done what it is at: two must not draw from one stream


class _Helper:
    """A thread that draws. Its queues have no locks in Python that an interrupt could leave locked."""

    def __init__(self, stream: Stream) -> None:
        self.stream = stream
        self.questions: SimpleQueue[tuple[int, int] | None] = SimpleQueue()  # None: end
        self._answers: SimpleQueue[Chunk | BaseException] = SimpleQueue()

    def start(self) -> None:
        self.stream.helper = threading.Thread(target=self._work, name="stream", daemon=True)
        self.stream.helper.start()

    def _work(self) -> None:
        while (question := self.questions.get()) is not None:
            try:
                self._answers.put(self.stream.draw(*question))
            except BaseException as error:  # of the stream's; it belongs to whoever waits for the chunk
                self._answers.put(error)

    def ask(self, first: int, count: int) -> None:
        self.questions.put((first, count))

    def answer(self) -> Chunk:
        answer = self._answers.get()
        if isinstance(answer, BaseException):
            raise answer
        return answer
