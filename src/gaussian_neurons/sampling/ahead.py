"""Draw the next chunk of a stream while the last one is being used."""

from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor

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
    with ThreadPoolExecutor(1, "stream") as pool:
        coming = pool.submit(stream.draw, first, wanted(first)) if end is None or first < end else None
        while coming is not None:
            chunk = coming.result()
            if not chunk.taken:
                return
            first += chunk.taken
            more = end is None or first < end
            coming = pool.submit(stream.draw, first, wanted(first)) if more else None
            yield chunk
