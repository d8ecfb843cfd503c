"""Images or rows → a stream of samples; sample t is a function of the source, the seed and t alone."""

from gaussian_neurons.sampling.files import rows_from_file
from gaussian_neurons.sampling.images import Neighbourhoods, Patches
from gaussian_neurons.sampling.iterables import Iterated, as_stream
from gaussian_neurons.sampling.piped import rows_from_pipe
from gaussian_neurons.sampling.rows import Rows
from gaussian_neurons.sampling.stream import Chunk, Stream

__all__ = [
    "Chunk",
    "Iterated",
    "Neighbourhoods",
    "Patches",
    "Rows",
    "Stream",
    "as_stream",
    "rows_from_file",
    "rows_from_pipe",
]
