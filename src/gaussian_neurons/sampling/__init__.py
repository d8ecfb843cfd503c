"""Streams of samples from images, arrays, files and iterables; sample t depends on source, seed and t."""

from gaussian_neurons.sampling.files import rows_from_file
from gaussian_neurons.sampling.followed import follow
from gaussian_neurons.sampling.images import Neighbourhoods, Patches
from gaussian_neurons.sampling.iterables import Iterated, as_stream
from gaussian_neurons.sampling.local import local_covariances
from gaussian_neurons.sampling.piped import rows_from_pipe
from gaussian_neurons.sampling.resumable import Resumable
from gaussian_neurons.sampling.rows import Rows
from gaussian_neurons.sampling.stream import Chunk, Stream
from gaussian_neurons.sampling.video import Frames, frames_from_file

__all__ = [
    "Chunk",
    "Frames",
    "Iterated",
    "Neighbourhoods",
    "Patches",
    "Resumable",
    "Rows",
    "Stream",
    "as_stream",
    "follow",
    "frames_from_file",
    "local_covariances",
    "rows_from_file",
    "rows_from_pipe",
]
