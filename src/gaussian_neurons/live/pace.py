"""How many samples to learn next, so that the speed is kept and commands are executed promptly."""

from collections import deque
from math import isinf

SLICE = 0.012  # seconds that one call of learning should take
FIRST_ROWS, MAX_ROWS = 16, 1 << 14
BACKLOG = 0.2  # seconds of delay that are caught up
TICK = 0.02  # seconds between two calls at a limited speed
MEASURED = 1.0  # seconds over which the speed is measured


class Pace:
    """Counts samples against the clock. Times are in seconds with any origin."""

    def __init__(self) -> None:
        self._rows = FIRST_ROWS  # of the next call, if the speed is not limited
        self._credit, self._updated = 0.0, 0.0
        self._measured: deque[tuple[float, int]] = deque()  # time, samples seen

    def restart(self, now: float) -> None:
        """Forget the backlog, the measured speed and the cost of a sample."""
        self._credit, self._updated, self._rows = 0.0, now, FIRST_ROWS
        self._measured.clear()

    def wait(self, now: float, speed: float) -> float:
        """Seconds until samples are due."""
        if isinf(speed):
            return 0.0
        due = max(TICK, 1 / speed)
        elapsed = self._credit / speed + now - self._updated
        return max(0.0, due - elapsed)

    def rows(self, now: float, speed: float, most: int = MAX_ROWS) -> int:
        """The number of samples to learn now, 0 if none is due."""
        if isinf(speed):
            self._updated = now
            return min(self._rows, most)
        self._credit = min(self._credit + (now - self._updated) * speed, max(1.0, BACKLOG * speed))
        self._updated = now
        return min(int(self._credit), self._rows, most)

    def learned(self, rows: int, begin: float, end: float, seen: int) -> None:
        """Record that `rows` samples were learned between two times."""
        self._credit = max(0.0, self._credit - rows)
        if end - begin < SLICE / 2 and rows >= self._rows:
            self._rows = min(2 * self._rows, MAX_ROWS)
        elif end - begin > 1.5 * SLICE:
            self._rows = max(1, self._rows // 2)
        self._measured.append((end, seen))
        while end - self._measured[0][0] > MEASURED and len(self._measured) > 2:
            self._measured.popleft()

    def speed(self) -> float | None:
        """Samples per second over the last second, None if not measured yet."""
        if len(self._measured) < 2:
            return None
        (begin, first), (end, last) = self._measured[0], self._measured[-1]
        return (last - first) / max(end - begin, 1e-6)
