"""Endless streams of patches of a video: mean and width come from successive frames at one place."""

import os
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gaussian_neurons.base import extras
from gaussian_neurons.base.checks import number, one_of, whole_number
from gaussian_neurons.base.covariances import TYPES
from gaussian_neurons.sampling import native
from gaussian_neurons.sampling.ahead import rows_at_once
from gaussian_neurons.sampling.images import FromImages
from gaussian_neurons.sampling.reference import NOISE, Single, mean_and_width, positions
from gaussian_neurons.sampling.stream import Chunk

Array = NDArray[Any]


class Frames(FromImages):
    """Mean and width of a patch over successive frames of a video, with noise on each pixel.

    The patches are at one uniformly random place in `frames` successive frames, the first of which is random
    too. `read` gives their mean mu_x and sigma_x = 2/n sum |s_i - mu_x|^2: what `Neighbourhoods` computes
    from nine neighbouring patches of one image. Sample t depends only on the video, the seed and t.

    Parameters
    ----------
    video : (n_frames, height, width) or (n_frames, height, width, channels), uint8, which is scaled to
        [0, 1], or float, which is not; or the path of a video file, whose frames are read in colour
        (`frames_from_file`). A long video can be a memory-mapped array
    size : side of a patch in pixels; a sample has size * size * channels numbers
    frames : how many successive frames make a sample
    seed : whole number
    noise : standard deviation of the noise. Without noise, a place where nothing moves has the width 0, and
        a sample of width 0 changes no width
    covariance : "spherical", "diag" or "full", as for `Neighbourhoods`
    dtype : float32 or float64, the precision of the samples and of a model that learns from them

    Examples
    --------
    >>> video = np.zeros((50, 8, 8), np.uint8)
    >>> video[:, :, 3] = 5 * np.arange(50)[:, None]  # a column that becomes brighter
    >>> means, widths = Frames(video, size=3, frames=9, seed=0).read(1000)
    >>> sorted({round(float(width), 4) for width in widths})  # 2/9 * 60 * 3 * (5/255)^2 with that column
    [0.0, 0.0154]
    """

    _of = "video"

    def __init__(
        self,
        video: Any,
        size: int,
        frames: int = 9,
        seed: int = 0,
        *,
        noise: float = 0.0,
        covariance: str = "spherical",
        dtype: Any = np.float32,
    ) -> None:
        if isinstance(video, str | os.PathLike):
            video = frames_from_file(video)
        super().__init__(video, size, seed, None, None, dtype)
        self.frames = whole_number("frames", frames, least=2)
        if self.frames > len(self._images):
            raise ValueError(f"frames must be at most the {len(self._images)} of the video, got {frames}.")
        self.noise = number("noise", noise, least=0.0)
        self.covariance = one_of("covariance", covariance, TYPES)

    def draw(self, first: int, count: int) -> Chunk:  # noqa: D102
        D = self.size**2 * self._images.shape[3]
        each = self.frames * D + (D**2 if self.covariance == "full" else 0)
        given = self._images, self.size, self.frames, self.noise, self.seed
        means, widths = frames_at_places(*given, first, min(count, rows_at_once(each)), self.covariance)
        return Chunk(means.astype(self.dtype, copy=False), widths.astype(self.dtype, copy=False))

    def describe(self) -> Mapping[str, Any]:  # noqa: D102
        facts = {"frames": self.frames, "noise": self.noise, "covariance": self.covariance}
        return {**super().describe(), **facts}

    def __repr__(self) -> str:
        return f"{super().__repr__()[:-1]}, {self.frames} at a time)"


def frames_at_places(
    video: Array,
    size: int,
    frames: int,
    noise: float,
    seed: int,
    first: int,
    count: int,
    covariance: str = "spherical",
) -> tuple[Single, Single]:
    """Means (count, D) and widths (count,) of patches in successive frames, with noise on each pixel [11].

    Place [9] and noise [10] are those of `reference.neighbourhoods`. The first frame takes the place of the
    image, and patch i that of neighbour i.
    """
    at, row, column = positions(video[: len(video) - frames + 1], size, seed, first, count)
    windows = np.lib.stride_tricks.sliding_window_view(video, (size, size), axis=(1, 2))
    found = windows[at + np.arange(frames)[:, None], row, column]  # (frames, count, channels, size, size)
    D = size**2 * video.shape[3]
    found = np.ascontiguousarray(found.transpose(0, 1, 3, 4, 2)).reshape(frames, count, D)
    patches = found.astype(np.float32) / np.float32(255) if video.dtype == np.uint8 else found
    drawn = native.normals(seed, NOISE, first, count, frames * D)
    noises = drawn.reshape(count, frames, D).transpose(1, 0, 2)
    samples = patches + np.float32(noise) * noises
    return mean_and_width(list(samples), covariance)


def frames_from_file(path: str | os.PathLike[str], *, grey: bool = False) -> NDArray[np.uint8]:
    """All frames of a video file: (n_frames, height, width, 3), or (n_frames, height, width) if grey.

    PyAV reads the file, in any format that FFmpeg knows: pip install 'gaussian-neurons[video]'. The frames
    are held in memory; for a long video, read parts of it and store them as a memory-mapped array.
    """
    extras.require("video files need", "video", "av")
    import av

    name = os.fspath(path)
    if not os.path.isfile(name):
        raise FileNotFoundError(f"there is no video file {name!r}.")
    try:
        with av.open(name) as container:
            wanted = "gray" if grey else "rgb24"
            if not container.streams.video:
                raise ValueError(f"{name!r} holds no video.")
            frames = [frame.to_ndarray(format=wanted) for frame in container.decode(video=0)]
    except av.error.FFmpegError as error:
        raise ValueError(f"{name!r} cannot be read as a video: {error}") from None
    if not frames:
        raise ValueError(f"{name!r} holds no frames.")
    return np.stack(frames)
