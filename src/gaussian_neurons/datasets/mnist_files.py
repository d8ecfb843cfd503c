"""MNIST in its published format: IDX files, gzipped or plain."""

import gzip
import os
import zlib
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from gaussian_neurons.datasets.fetch import (
    AbsentData,
    DamagedFile,
    Remote,
    absent,
    check_hash,
    download,
    find,
)
from gaussian_neurons.datasets.image_set import ImageSet

FOLDERS = ("mnist", "MNIST/raw")
MIRRORS = (
    "https://ossci-datasets.s3.amazonaws.com/mnist/",
    "https://storage.googleapis.com/cvdf-datasets/mnist/",
)
# name -> SHA-256 of the published gzipped file, and of its contents
FILES = {
    "train-images-idx3-ubyte": (
        "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609",
        "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db",
    ),
    "train-labels-idx1-ubyte": (
        "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c",
        "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5",
    ),
    "t10k-images-idx3-ubyte": (
        "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6",
        "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7",
    ),
    "t10k-labels-idx1-ubyte": (
        "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6",
        "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2",
    ),
}
SPLITS = {"train": "train", "test": "t10k"}
UNSIGNED_BYTES = 8  # the code of this type in an IDX header
MOST_DEFLATED = 1032  # the most bytes that one byte of a gzipped file can expand to
READ_AT_ONCE = 1 << 20


def mnist(
    split: str = "train",
    *,
    directory: str | os.PathLike[str] | None = None,
    download: bool = True,
    verify: bool = True,
) -> ImageSet:
    """Load MNIST: 60,000 training and 10,000 test images of handwritten digits, 28 x 28.

    It is searched in `directory`, in the directory of the environment variable GAUSSIAN_NEURONS_DATA and in
    the user's cache, and in their subfolders mnist/ and MNIST/raw/. If it is not found, it is downloaded into
    the cache.

    Parameters
    ----------
    split : "train" or "test"
    directory : the directory to search first
    download : whether to download files that are not found
    verify : whether to check that the contents are the published ones; False accepts any IDX files

    Returns
    -------
    ImageSet : images (n, 28, 28), labels (n,); `images, labels = mnist()`
    """
    if split not in SPLITS:
        raise ValueError(f"split must be one of {', '.join(SPLITS)}, got {split!r}.")
    names = [f"{SPLITS[split]}-images-idx3-ubyte", f"{SPLITS[split]}-labels-idx1-ubyte"]
    wanted = [(f"{name}.gz", name, name.replace("-idx", ".idx")) for name in names]
    paths = find(wanted, FOLDERS, directory) or _fetched(names, directory, download)
    images, labels = (
        read_idx(path, dimensions=dimensions, sha256=FILES[name][1] if verify else None)
        for path, name, dimensions in zip(paths, names, (3, 1), strict=True)
    )
    if len(images) != len(labels):
        raise DamagedFile(
            f"{str(paths[0])!r} holds {len(images)} images, but {str(paths[1])!r} {len(labels)} labels: "
            f"the files do not match."
        )
    return ImageSet(images, labels, f"MNIST {split}", str(paths[0].parent))


def _fetched(names: list[str], directory: str | os.PathLike[str] | None, allowed: bool) -> list[Path]:
    files = [f"{name}.gz" for name in names]
    message = absent(
        "MNIST", files, directory, "Without a network, mnist_sample() gives 5,000 of its digits."
    )
    if not allowed:
        raise AbsentData(message)
    remotes = [Remote(f"{name}.gz", FILES[name][0], MIRRORS) for name in names]
    return download(remotes, FOLDERS[0], message)


def read_idx(
    path: str | os.PathLike[str], *, dimensions: int, sha256: str | None = None
) -> NDArray[np.uint8]:
    """Read an IDX file of bytes, gzipped or plain, with this number of dimensions.

    A DamagedFile error (a ValueError) names a file that is truncated, too long, in another format or, if
    `sha256` is given, changed.
    """
    path = Path(path)
    try:
        with open(path, "rb") as plain:
            gzipped = plain.read(2) == b"\x1f\x8b"
            plain.seek(0)
            most = path.stat().st_size * (MOST_DEFLATED if gzipped else 1)
            if gzipped:
                with gzip.open(plain) as file:
                    return _read_idx(path, file, dimensions, most, sha256)
            return _read_idx(path, plain, dimensions, most, sha256)
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise DamagedFile(f"{str(path)!r} is a damaged gzip file: {error}. Replace it.") from error


def _read_idx(
    path: Path, file: BinaryIO | gzip.GzipFile, dimensions: int, most: int, sha256: str | None
) -> NDArray[np.uint8]:
    start = 4 + 4 * dimensions
    head = file.read(start)
    expected = bytes([0, 0, UNSIGNED_BYTES, dimensions])
    if head[:4] != expected:
        raise DamagedFile(
            f"{str(path)!r} is not an IDX file of bytes in {dimensions} dimensions: it begins with "
            f"{head[:4].hex(' ') or 'nothing'}, expected {expected.hex(' ')}."
        )
    if len(head) < start:
        raise DamagedFile(f"{str(path)!r} is truncated: {len(head)} bytes, but the header has {start}.")
    shape = [int.from_bytes(head[at : at + 4], "big") for at in range(4, start, 4)]
    count = int(np.prod(shape, dtype=object))
    if not count:
        raise DamagedFile(f"{str(path)!r} is empty: its header says {' x '.join(map(str, shape))}.")
    if start + count > most:
        raise DamagedFile(_wrong_size(path, shape, start + count, f"can hold at most {most:,}"))
    data = bytearray(head)
    while len(data) <= start + count and (
        block := file.read(min(READ_AT_ONCE, start + count + 1 - len(data)))
    ):
        data += block
    if len(data) != start + count:
        actual = f"{len(data):,}" if len(data) < start + count else "more"
        raise DamagedFile(_wrong_size(path, shape, start + count, f"holds {actual}"))
    check_hash(path, data, sha256)
    return np.frombuffer(data, np.uint8, offset=start).reshape(shape)


def _wrong_size(path: Path, shape: list[int], expected: int, actual: str) -> str:
    return (
        f"{str(path)!r} is truncated, too long or not IDX: its header says {' x '.join(map(str, shape))}, "
        f"which is {expected:,} bytes, but the file {actual}. Replace it."
    )
