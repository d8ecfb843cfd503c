"""The curves of a trial in bounded memory: learned neurons, cost and distance moved, and user actions."""

MAX_POINTS = 1000
MAX_MARKS = 60
MERGE_WITHIN = 2.0  # seconds in which actions of the same kind share one mark


class History:
    """Points of the curves, thinned out as they grow, and marks for user actions."""

    def __init__(self) -> None:
        self.points: list[list[float | None]] = []  # samples seen, neurons learned, cost, mean distance moved
        self.marks: list[tuple[int, str]] = []  # samples seen, text
        self._every, self._count = 1, 0
        self._last: tuple[str, float] = ("", 0.0)  # kind and time of the last mark

    def __copy__(self) -> "History":
        other = History()
        vars(other).update(vars(self), points=self.points[:], marks=self.marks[:])
        return other

    def add(self, *point: float | None) -> None:
        """Add a point. When `MAX_POINTS` is exceeded, every second point is dropped."""
        if self._count % self._every == 0:
            self.points.append(list(point))
        self._count += 1
        if len(self.points) > MAX_POINTS:
            self.points, self._every = self.points[::2], 2 * self._every

    def continues(self, kind: str, now: float) -> bool:
        """Whether an action of this kind continues the last one, which is recent."""
        last_kind, last_time = self._last
        return bool(self.marks) and kind == last_kind and now - last_time < MERGE_WITHIN

    def mark(self, seen: int, kind: str, text: str, now: float) -> tuple[int, bool]:
        """Mark an action. It replaces the last mark if it continues that.

        Returns
        -------
        seen : samples seen at the mark; a replacement keeps those of the mark that it replaces
        replaces : whether the last mark was replaced
        """
        replaces = self.continues(kind, now)
        if replaces:
            seen, _ = self.marks.pop()
        self.marks.append((seen, text))
        self.marks = self.marks[-MAX_MARKS:]
        self._last = (kind, now)
        return seen, replaces
