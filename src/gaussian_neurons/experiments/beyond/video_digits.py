"""Figures 5c to 5e with successive frames of moving digits."""

from dataclasses import replace

from gaussian_neurons.experiments import frames
from gaussian_neurons.experiments.beyond import video_bikes

Config = frames.Config
run = frames.run
draw = frames.draw

EXPERIMENT = replace(
    video_bikes.EXPERIMENT,
    name="video-digits",
    title="Figures 5c to 5e with frames of moving digits",
    data="moving-digits",
    needs={},
    note=frames.note(
        "The video is synthetic: a digit of 8 x 8 pixels moves over a black frame of 16 x 16 pixels; after "
        "60 frames another one takes its place."
    ),
)
