"""Strip plots: a dot for each seed, and a line for the paper's number."""

from collections import Counter

from gaussian_neurons.experiments.report.summary import Spread

WIDTH, MARGIN, DOT, AXIS = 144, 10, 3.5, 26  # in pixels


def strip(spread: Spread) -> str:
    """A strip plot as SVG, with equal values stacked; empty for fewer than two seeds."""
    published, values = spread.quantity.published, list(spread.values.values())
    if published is not None:  # finer digits than the paper's cannot be compared
        values = [round(value, spread.quantity.digits) for value in values]
    shown = [*values, *([] if published is None else [published])]
    if len(values) < 2:
        return ""
    low, high = min(shown), max(shown)
    span = (high - low) or 1.0

    def x(value: float) -> float:
        return round(MARGIN + (value - low) / span * (WIDTH - 2 * MARGIN), 1) if high > low else WIDTH / 2

    bins = Counter(x(value) // (2 * DOT) for value in values)
    tallest = max(bins.values())
    step = min(2 * DOT, (AXIS - 2 * DOT) / max(1, tallest - 1))
    heights: Counter[float] = Counter()
    dots = []
    for value in sorted(values):
        column = x(value) // (2 * DOT)
        y = AXIS - DOT - heights[column] * step
        heights[column] += 1
        dots.append(f'<circle class="ours" cx="{x(value)}" cy="{y:.1f}" r="{DOT - 0.5}"/>')
    line = ""
    if published is not None:
        line = f'<line class="paper" x1="{x(published)}" x2="{x(published)}" y1="0" y2="{AXIS + 3}"/>'
    label = f"{spread.quantity.label}: paper {spread.published}, ours {spread.ours}"
    return (
        f'<svg viewBox="0 0 {WIDTH} {AXIS + 4}" role="img" aria-label="{label}">'
        f'<line class="axis" x1="0" x2="{WIDTH}" y1="{AXIS}" y2="{AXIS}"/>{"".join(dots)}{line}</svg>'
    )
