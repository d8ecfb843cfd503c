"""Neurons as SVG text: patches in one embedded image, rows of cells, or circles in the plane."""

import base64
import math
import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gaussian_neurons.base.checks import whole_number
from gaussian_neurons.base.covariances import ellipse

Array = NDArray[Any]
Pixels = NDArray[np.uint8]

# The same colours as in plotting.py, which needs matplotlib.
LEARNED, PUSHED_OUT, MUTED, BELOW, ABOVE = "#c2410c", "#64748b", "#9aa4af", "#3b82f6", "#ef4444"
BEYOND = 0.5  # range outside the domain that has its own colours, in parts of the domain
DIMMED = 0.4  # opacity of patches that did not learn

PATCH, MAX_PATCH = 56, 128  # screen pixels of a small and of a large patch
MAX_WIDTH, MIN_WIDTH = 760, 380  # of the picture
ROW, CELL = 16, 28  # height of a row of cells, maximum width of a cell
PLANE = 460  # longer side of the plane
ELONGATED = 3.0  # ratio of the sides above which x and y have different scales
MARGIN = 0.15  # around the samples, as a part of the plane
MAX_NEURONS = 400  # drawn
WAITING = "waiting for the first samples"


@dataclass(frozen=True)
class Scene:
    """The state of a model, for a picture."""

    centers: Array  # (K, D)
    widths: Array  # (K,), or covariances (K, D) or (K, D, D)
    learned: NDArray[np.bool_]  # (K,)
    samples: Array  # (n, D) recent samples
    low: Array  # (D,) corner of the domain
    high: Array  # (D,)
    seen: int  # number of samples
    clusters: int

    @property
    def words(self) -> str:
        """The facts in one line."""
        learned = int(self.learned.sum())
        text = f"{self.seen:,} samples seen · {learned} of {len(self.centers)} learned"
        if self.clusters != learned:
            text += f" · {self.clusters} cluster{'' if self.clusters == 1 else 's'}"
        return text + (f" · {MAX_NEURONS} are shown" if len(self.centers) > MAX_NEURONS else "")


def guessed_shape(dimensions: int) -> tuple[int, ...]:
    """The shape of a square patch, of a square patch in colour, or of a row.

    Examples
    --------
    >>> guessed_shape(25), guessed_shape(75), guessed_shape(7)
    ((5, 5), (5, 5, 3), (7,))
    """
    for colours in ((), (3,)):
        side = math.isqrt(dimensions // math.prod(colours))
        if side * side * math.prod(colours) == dimensions:
            return (side, side, *colours)
    return (dimensions,)


def checked_shape(shape: Any) -> tuple[int, ...] | None:
    """Check the shape of a patch or a row. None means that it is guessed."""
    if shape is None:
        return None
    try:
        sides = tuple(whole_number("shape", side) for side in shape)
    except (TypeError, ValueError):
        sides = ()
    if len(sides) not in (1, 2, 3) or (len(sides) == 3 and sides[2] != 3):
        raise ValueError(
            f"shape must be (height, width), (height, width, 3) for colours, or (columns,) for rows, got "
            f"{shape!r}. With None, the shape is guessed."
        )
    return sides


def picture(scene: Scene | None, shape: tuple[int, ...] | None = None) -> str:
    """A scene as SVG for HTML. Its text has the colour of the surrounding text.

    Without a shape, two columns are drawn as a plane. Otherwise values in the domain are grey, lower ones
    blue and higher ones red. Colour images are clipped to the domain. Neurons are numbered by their index.
    """
    if scene is None:
        return _svg(MIN_WIDTH, 30, [], WAITING)
    dimensions = scene.centers.shape[1]
    if shape is None and dimensions == 2:
        return _plane(scene)
    shape = guessed_shape(dimensions) if shape is None else shape
    if math.prod(shape) != dimensions:
        raise ValueError(
            f"shape {shape} has {math.prod(shape)} cells, but the model has {dimensions} columns. "
            f"Give watch() another shape, or None to guess it."
        )
    return _filters(scene, shape)


def painted(values: Array) -> Pixels:
    """Colours of values relative to the domain, (..., 3): grey in [0, 1], blue below, red above.

    Examples
    --------
    >>> painted(np.array([0.0, 1.0, -9.0])).tolist()
    [[0, 0, 0], [255, 255, 255], [59, 130, 246]]
    """
    below, above = (np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) for colour in (BELOW, ABOVE))
    inside = np.clip(values, 0, 1)[..., None]
    under = np.clip(-values / BEYOND, 0, 1)[..., None]
    over = np.clip((values - 1) / BEYOND, 0, 1)[..., None]
    return np.rint(255 * inside + below * under + (above - 255) * over).astype(np.uint8)


def png(pixels: Pixels) -> bytes:
    """Pixels, (height, width, 4), as a PNG file."""

    def part(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    height, width, _ = pixels.shape
    lines = np.zeros((height, 1 + 4 * width), np.uint8)  # each starts with the number of its filter, 0
    lines[:, 1:] = pixels.reshape(height, -1)
    head = struct.pack(">IIBBBBB", width, height, 8, 6, 0, 0, 0)  # 8 bits, RGBA
    data = zlib.compress(lines.tobytes(), 1)
    return b"\x89PNG\r\n\x1a\n" + part(b"IHDR", head) + part(b"IDAT", data) + part(b"IEND", b"")


def _filters(scene: Scene, shape: tuple[int, ...]) -> str:
    """Centers as patches or rows, in one image, with frames and numbers."""
    first = np.argsort(~scene.learned, kind="stable")[:MAX_NEURONS]  # prefers neurons that learned
    shown = np.sort(first)
    learned, pixels = scene.learned[shown], _pixels(scene, shown, shape)
    is_row = len(shape) == 1
    height, width = pixels.shape[1:3]
    if is_row:  # below each other, with numbers on the left
        x_unit, y_unit, columns = min(CELL, (MAX_WIDTH - 40) / width), ROW / height, 1
        right, down = 0, 1
    else:
        largest = max(height, width)
        x_unit = y_unit = max(1, round(PATCH / largest)) if largest <= MAX_PATCH else MAX_PATCH / largest
        right, down = math.ceil(10 / x_unit), math.ceil(20 / y_unit)
        most = int(MAX_WIDTH // ((width + right) * x_unit)) or 1
        columns = min(math.ceil(math.sqrt(len(shown))), most)
    rows = -(-len(shown) // columns)
    canvas = np.zeros((rows * (height + down) - down, columns * (width + right) - right, 4), np.uint8)
    left, top = (34, 34) if is_row else (2, 50)
    frames, numbers = [], []
    for k, number in enumerate(shown):
        y, x = k // columns * (height + down), k % columns * (width + right)
        canvas[y : y + height, x : x + width] = pixels[k]
        place = f'x="{left + x * x_unit:.4g}" y="{top + y * y_unit:.4g}"'
        size = f'width="{width * x_unit:.4g}" height="{height * y_unit:.4g}"'
        colour, line = (LEARNED, 2.5) if learned[k] else (PUSHED_OUT, 0.7)
        frames.append(f'<rect {place} {size} fill="none" stroke="{colour}" stroke-width="{line}"/>')
        at = (left - 6, top + y * y_unit + ROW - 4) if is_row else (left + x * x_unit, top + y * y_unit - 4.5)
        numbers.append(_number(int(number), at, bool(learned[k]), "end" if is_row else "start"))
    wide, tall = canvas.shape[1] * x_unit, canvas.shape[0] * y_unit
    data = base64.b64encode(png(canvas)).decode()
    image = (
        f'<image x="{left}" y="{top}" width="{wide:.5g}" height="{tall:.5g}" preserveAspectRatio="none" '
        f'decoding="sync" style="image-rendering:pixelated" href="data:image/png;base64,{data}"/>'
    )
    return _svg(left + wide + 2, top + tall + 3, [image, *frames, *numbers], scene.words)


def _pixels(scene: Scene, shown: NDArray[np.int64], shape: tuple[int, ...]) -> Pixels:
    """The patches of some neurons, (n, height, width, 4)."""
    low, high = scene.low, scene.high
    if len(shape) > 1:  # all pixels of a patch have the same scale, columns do not
        low, high = low.min(), high.max()
    span = np.where(high > low, high - low, 1.0)
    values = ((scene.centers[shown] - low) / span).reshape(len(shown), *shape)
    if len(shape) == 1:
        values = values[:, None].repeat(4, axis=1)  # 4 pixels per row, so that a gap is thinner than a row
    colours = np.rint(255 * np.clip(values, 0, 1)).astype(np.uint8) if len(shape) == 3 else painted(values)
    alpha = np.where(scene.learned[shown], 255, int(255 * DIMMED)).astype(np.uint8)
    opacity = np.broadcast_to(alpha[:, None, None, None], (*colours.shape[:3], 1))
    return np.concatenate([colours, opacity], axis=3)


def _plane(scene: Scene) -> str:
    """Samples as dots, learned neurons as the ellipses of a response of 1/e, the others as crosses."""
    samples = scene.samples.astype(np.float64)
    inside = np.concatenate([samples, scene.centers[scene.learned], [scene.low, scene.high]])
    low, high = inside.min(axis=0), inside.max(axis=0)
    span = np.where(high > low, high - low, 1.0) * (1 + 2 * MARGIN)
    low = (low + high - span) / 2
    is_long = span.max() > ELONGATED * span.min()
    scale = np.array([PLANE, PLANE / 2]) / span if is_long else np.full(2, PLANE / span.max())
    width, height = span * scale
    left, top = 1, 32

    def placed(points: Array) -> Array:
        """Screen positions. Points far outside are moved to the border, with space for their numbers."""
        part = np.clip((points - low) * scale, [8, 8], [width - 22, height - 18])
        return np.column_stack([left + part[:, 0], top + height - part[:, 1]])

    dots = "".join(f"M{x:.1f} {y:.1f}h0" for x, y in placed(samples))
    drawn = [
        f'<rect x="{left}" y="{top}" width="{width:.5g}" height="{height:.5g}" fill="none" '
        f'stroke="currentColor" stroke-opacity="0.25"/>',
        f'<path d="{dots}" stroke="{MUTED}" stroke-opacity="0.55" stroke-width="3" stroke-linecap="round"/>',
    ]
    order = np.argsort(scene.learned, kind="stable")[-MAX_NEURONS:]  # neurons that learned are on top
    for k, (x, y) in zip(order, placed(scene.centers[order]), strict=True):
        learned = bool(scene.learned[k])
        if learned:
            across, up, angle = ellipse(scene.widths[k], scale * [1, -1])
            turned = f'transform="rotate({angle:.1f} {x:.1f} {y:.1f})" ' if angle else ""
            drawn += [
                f'<ellipse cx="{x:.1f}" cy="{y:.1f}" rx="{across:.1f}" ry="{up:.1f}" {turned}fill="none" '
                f'stroke="{LEARNED}" stroke-width="2"/>',
                f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" fill="{LEARNED}"/>',
            ]
        else:
            cross = f"M{x - 4:.1f} {y - 4:.1f}l8 8m0 -8l-8 8"
            drawn.append(f'<path d="{cross}" stroke="{PUSHED_OUT}" stroke-width="1.8" fill="none"/>')
        drawn.append(_number(int(k), (x + 6, y - 6), learned))
    return _svg(left + width + 8, top + height + 8, drawn, scene.words)


def _number(number: int, at: tuple[float, float], learned: bool, anchor: str = "start") -> str:
    strength = 'font-weight="600"' if learned else 'fill-opacity="0.55"'
    place = f'x="{at[0]:.1f}" y="{at[1]:.1f}" text-anchor="{anchor}"'
    return f'<text {place} font-size="10.5" {strength}>{number}</text>'


def _svg(width: float, height: float, drawn: Sequence[str], words: str) -> str:
    wide, tall = max(MIN_WIDTH, math.ceil(width)), math.ceil(height)
    text = f'<text x="1" y="18" font-size="13.5">{escape(words)}</text>'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{wide}" height="{tall}" viewBox="0 0 {wide} {tall}" '
        f'role="img" aria-label="{escape(words)}" fill="currentColor" font-family="system-ui, sans-serif" '
        f'style="max-width:100%;height:auto;display:block">{text}{"".join(drawn)}</svg>'
    )
