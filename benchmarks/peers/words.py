"""Numbers and tables as text."""

from collections.abc import Iterable, Sequence

from benchmarks.peers.results import Spread


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Markdown; no word can break a row."""
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(_cell(word) for word in line)} |\n" for line in lines)


def _cell(word: str) -> str:
    return " ".join(word.split()).replace("|", "\\|")


def exactly(word: str) -> str:
    """As it is, whatever signs are in it."""
    fence = "`"
    while fence in word:
        fence += "`"
    space = " " if word.startswith("`") or word.endswith("`") else ""
    return f"{fence}{space}{word}{space}{fence}" if word else ""


def number(value: float | None) -> str:
    """To three digits, and a dash for none."""
    if value is None:
        return "–"
    if value == 0:
        return "0"
    size = int(f"{value:.2e}".split("e")[1])  # digits before the point, less one
    return f"{round(value, 2 - size):,.{min(4, max(0, 2 - size))}f}"


def with_half(spread: Spread) -> str:
    """The middle, and where the middle half lies."""
    if spread.low == spread.high:
        return number(spread.middle)
    return f"{number(spread.middle)} ({number(spread.low)} – {number(spread.high)})"


def aligned(rows: Sequence[Sequence[str]], left: int) -> str:
    """Rows for a terminal; the first `left` columns are words."""
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    return "\n".join(
        "  ".join(
            f"{word:<{width}}" if k < left else f"{word:>{width}}"
            for k, (word, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    )
