"""Format numbers and tables as text."""

from collections.abc import Iterable, Sequence

from benchmarks.peers.results import Spread


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table in Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(_cell(text) for text in line)} |\n" for line in lines)


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def code(text: str) -> str:
    """Inline code in Markdown, also if the text contains backquotes."""
    fence = "`"
    while fence in text:
        fence += "`"
    space = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{space}{text}{space}{fence}" if text else ""


def number(value: float | None) -> str:
    """A number with three digits; a dash for None."""
    if value is None:
        return "–"
    if value == 0:
        return "0"
    size = int(f"{value:.2e}".split("e")[1])  # digits before the point, less one
    return f"{round(value, 2 - size):,.{min(4, max(0, 2 - size))}f}"


def with_quartiles(spread: Spread) -> str:
    """The median, with the quartiles in brackets."""
    if spread.low == spread.high:
        return number(spread.middle)
    return f"{number(spread.middle)} ({number(spread.low)} – {number(spread.high)})"


def aligned(rows: Sequence[Sequence[str]], left: int) -> str:
    """Rows for a terminal; the first `left` columns are left-aligned."""
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    return "\n".join(
        "  ".join(
            f"{word:<{width}}" if k < left else f"{word:>{width}}"
            for k, (word, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    )
