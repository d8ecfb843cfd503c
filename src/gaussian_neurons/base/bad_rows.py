"""A row that cannot be learned from, and which one it is."""


class BadRow(ValueError):
    """A row that cannot be learned from. The text says why, with {row} where its number belongs."""

    def __init__(self, row: int, text: str) -> None:
        super().__init__(text.replace("{row}", str(row)))
        self.row, self.text = row, text

    def __reduce__(self) -> tuple[type["BadRow"], tuple[int, str]]:
        return BadRow, (self.row, self.text)

    def later(self, rows: int) -> "BadRow":
        """The same row, where so many others come before it."""
        return BadRow(self.row + rows, self.text)


def bad_width(row: int, width: float) -> BadRow:
    """The error of a sample's own width that is no width."""
    return BadRow(row, f"sample_width must be finite and not negative, got {width!r} at row {{row}}.")
