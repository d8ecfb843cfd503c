"""How many samples come next: so that a run keeps its speed, and listens often enough."""

from collections import deque

LISTEN = 0.012  # seconds that a slice of learning should take
FIRST_ROWS, MOST_ROWS = 16, 1 << 14
BACKLOG = 0.2  # seconds' worth of samples that are made up for
TICK = 0.02  # seconds between two slices at a given speed
MEASURED = 1.0  # seconds over which the speed is measured


class Pace:
    """Counts samples against the clock. Times are in seconds, from anywhere."""

    def __init__(self) -> None:
        self._rows = FIRST_ROWS
        self._credit, self._then = 0.0, 0.0
        self._passed: deque[tuple[float, int]] = deque()

    def restart(self, now: float) -> None:
        """Nothing is owed, nothing was measured, and what a sample costs may have changed."""
        self._credit, self._then, self._rows = 0.0, now, FIRST_ROWS
        self._passed.clear()

    def wait(self, now: float, speed: float | None) -> float:
        """Seconds until samples are due."""
        if speed is None:
            return 0.0
        due = max(TICK, 1 / speed)
        have = self._credit / speed + now - self._then
        return max(0.0, due - have)

    def rows(self, now: float, speed: float | None, most: int = MOST_ROWS) -> int:
        """Samples to learn from now; 0 where none is due."""
        if speed is None:
            self._then = now
            return min(self._rows, most)
        self._credit = min(self._credit + (now - self._then) * speed, max(1.0, BACKLOG * speed))
        self._then = now
        return min(int(self._credit), self._rows, most)

    def learned(self, rows: int, begin: float, end: float, seen: int) -> None:
        """So many were learned from, which took that long."""
        self._credit = max(0.0, self._credit - rows)
        if end - begin < LISTEN / 2 and rows >= self._rows:
            self._rows = min(2 * self._rows, MOST_ROWS)
        elif end - begin > 1.5 * LISTEN:
            self._rows = max(1, self._rows // 2)
        self._passed.append((end, seen))
        while end - self._passed[0][0] > MEASURED and len(self._passed) > 2:
            self._passed.popleft()

    def speed(self) -> float | None:
        """Samples a second, lately; None where that is not known yet."""
        if len(self._passed) < 2:
            return None
        (begin, first), (end, last) = self._passed[0], self._passed[-1]
        return (last - first) / max(end - begin, 1e-6)
