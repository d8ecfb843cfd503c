"""The course of a trial, in bounded memory: learned, cost and speed over the samples, and what was done."""

from typing import Any

MOST_POINTS = 1000
MOST_MARKS = 60
AT_ONCE = 2.0  # seconds in which changes of the same kind make one mark


class History:
    """Points of the curves, thinned out as they grow, and marks."""

    def __init__(self) -> None:
        self.points: list[list[float | None]] = []  # samples seen, neurons learned, cost, samples a second
        self.marks: list[tuple[int, str]] = []  # samples seen, what was done
        self._every, self._count = 1, 0
        self._last: tuple[str, float] = ("", 0.0)

    def add(self, *point: float | None) -> None:
        """A point; of many, every second one is kept, then every fourth, ..."""
        if self._count % self._every == 0:
            self.points.append(list(point))
        self._count += 1
        if len(self.points) > MOST_POINTS:
            self.points, self._every = self.points[::2], 2 * self._every

    def mark(self, seen: int, kind: str, text: str, now: float) -> tuple[int, bool]:
        """What was done; one that follows another of its kind at once takes its place. Says where it stands,
        which is where the first began, and whether it took a place."""
        kind_before, before = self._last
        replaces = bool(self.marks) and kind == kind_before and now - before < AT_ONCE
        if replaces:
            seen, _ = self.marks.pop()
        self.marks.append((seen, text))
        self.marks = self.marks[-MOST_MARKS:]
        self._last = (kind, now)
        return seen, replaces

    def told(self) -> dict[str, Any]:
        """As the page is told."""
        return {"points": self.points, "marks": [list(mark) for mark in self.marks]}
