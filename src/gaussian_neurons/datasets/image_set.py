"""Images with their labels and their source."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, repr=False)
class ImageSet:
    """Images with labels; unpacks as `images, labels = mnist()`.

    Examples
    --------
    >>> print(ImageSet(np.zeros((2, 8, 8), np.uint8), np.zeros(2, np.uint8), "blank", "nowhere"))
    blank: 2 images of 8 x 8, from nowhere
    """

    images: NDArray[np.uint8]  # (n, height, width) or (n, height, width, 3)
    labels: NDArray[np.uint8]  # (n,)
    name: str
    source: str  # the folder or the package of the images

    def __iter__(self) -> Iterator[NDArray[np.uint8]]:
        return iter((self.images, self.labels))

    def __repr__(self) -> str:
        size = " x ".join(map(str, self.images.shape[1:]))
        return f"{self.name}: {len(self.images):,} images of {size}, from {self.source}"

    @cached_property
    def sha256(self) -> str:
        """The hash of images and labels, which identifies the data."""
        return hashlib.sha256(self.images.tobytes() + self.labels.tobytes()).hexdigest()

    def facts(self) -> dict[str, Any]:
        """Name, shape, source and hash, for result files and reports."""
        return {
            "name": self.name,
            "images": list(self.images.shape),
            "source": self.source,
            "sha256": self.sha256,
        }
