"""The pictures to choose data and figures by on the live page, drawn from runs of them.

python -m benchmarks.thumbnails     # needs MNIST and CIFAR-10; writes live/page/thumbnails.png
"""

from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw

from gaussian_neurons.live import presets
from gaussian_neurons.live.setup import DATA, Setup
from gaussian_neurons.live.sources import Images, Source, Sources, default_setup
from gaussian_neurons.live.trial import Trial

OUT = Path(presets.__file__).parent / "page" / "thumbnails.png"
SIDE, TILES, GAP = 96, 3, 3  # pixels of a picture, filters in a row, pixels between them
SAMPLES = {"image": 1_000_000, "plane": 30_000}
PAPER, POINT, LEARNED, OTHER = (255, 255, 255), (89, 98, 111), (194, 65, 12), (148, 163, 184)


def main() -> None:
    """Draw all pictures side by side: data in the order of the page, then figures."""
    sources = Sources()
    sources.find_published()
    setups = [default_setup(name, sources.load(name, 0)) for name in DATA if name != "file"]
    setups += [one.setup for one in presets.presets(sources).values()]
    sheet = Image.new("RGB", (SIDE * len(setups), SIDE), PAPER)
    for k, setup in enumerate(setups):
        print(f"{k + 1} of {len(setups)}: {setup.data}")
        sheet.paste(draw(setup, sources.load(setup.data, setup.seed)), (SIDE * k, 0))
    sheet.quantize(128).save(OUT, optimize=True)
    print(OUT, f"{OUT.stat().st_size / 1024:.0f} KiB")


def draw(setup: Setup, source: Source) -> Image.Image:
    """The neurons after learning."""
    trial = Trial(setup, source)
    while trial.seen < SAMPLES[trial.mode]:
        trial.learn(1 << 14)
    picture = filters(trial) if isinstance(source, Images) else plane(trial)
    trial.close()
    return picture


def filters(trial: Trial) -> Image.Image:
    """The learned filters with the largest shares, and others if they are few."""
    order = np.lexsort((-trial.model.diagnosis_.share, ~trial.learned))[: TILES**2]
    height, width, channels = trial.source.patch(trial.setup)  # type: ignore[union-attr]
    side = (SIDE - GAP * (TILES + 1)) // TILES
    picture = Image.new("RGB", (SIDE, SIDE), PAPER)
    for at, k in enumerate(order):
        values = np.clip(trial.model.centers_[k].reshape(height, width, channels), 0, 1)
        pixels = np.broadcast_to((255 * values).astype(np.uint8), (height, width, 3))
        tile = Image.fromarray(np.ascontiguousarray(pixels)).resize((side, side), Image.Resampling.NEAREST)
        place = (GAP + (at % TILES) * (side + GAP), GAP + (at // TILES) * (side + GAP))
        if not trial.learned[k]:
            tile = Image.blend(tile, Image.new("RGB", tile.size, PAPER), 0.6)
        picture.paste(tile, place)
    return picture


def plane(trial: Trial) -> Image.Image:
    """Points and circles, four times as large and then reduced."""
    large = 4 * SIDE
    picture = Image.new("RGB", (large, large), PAPER)
    brush = ImageDraw.Draw(picture)

    def circle(center, radius, **style) -> None:
        x, y = 0.08 * large + 0.84 * large * np.array([center[0], 1 - center[1]])
        radius *= 0.84 * large
        brush.ellipse((x - radius, y - radius, x + radius, y + radius), **style)

    points = trial.points()["points"]
    for point in points[:1500]:
        circle(point, 0.006 if len(points) > 1 else 0.03, fill=POINT)
    for center, width, learned in zip(trial.model.centers_, trial.model.widths_, trial.learned, strict=True):
        circle(center, width**0.5, outline=LEARNED if learned else OTHER, width=10 if learned else 4)
    return picture.resize((SIDE, SIDE), Image.Resampling.LANCZOS)


if __name__ == "__main__":
    main()
