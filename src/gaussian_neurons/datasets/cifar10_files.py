"""CIFAR-10 in its published binary version; some batches may be missing."""

import os
import tarfile
import tempfile
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from gaussian_neurons.datasets.fetch import (
    AbsentData,
    DamagedFile,
    Remote,
    absent,
    check_hash,
    download,
    search_path,
)
from gaussian_neurons.datasets.image_set import ImageSet

FOLDER = "cifar-10-batches-bin"
ARCHIVE = Remote(
    "cifar-10-binary.tar.gz",
    "c4a38c50a1bc5f3a1c5537f2155ab9d68f9f25eb1ed8d9ddda3db29a59bca1dd",
    (
        "https://www.cs.toronto.edu/~kriz/",
        "https://storage.googleapis.com/s4tf-hosted-binaries/datasets/CIFAR10/",
    ),
)
BATCHES = {  # SHA-256 of each
    "data_batch_1.bin": "cee916563c9f80d84e3cc88e17fdc0941787f1244f00a67874d45b261883ada5",
    "data_batch_2.bin": "a591ca11fa1708a91ee40f54b3da4784ccd871ecf2137de63f51ada8b3fa57ed",
    "data_batch_3.bin": "bbe8596564c0f86427f876058170b84dac6670ddf06d79402899d93ceea26f67",
    "data_batch_4.bin": "014e562d6e23c72197cc727519169a60359f5eccd8945ad5a09d710285ff4e48",
    "data_batch_5.bin": "755304fc0b379caeae8c14f0dac912fbc7d6cd469eb67a1029a08a39453a9add",
    "test_batch.bin": "8e2eb146ae340b09e24670f29cabc6326dba54da8789dab6768acf480273f65b",
}
SPLITS = {"train": [f"data_batch_{k}.bin" for k in range(1, 6)], "test": ["test_batch.bin"]}
RECORD = 1 + 3 * 32 * 32  # a label, then the red, green and blue planes
CLASSES = ("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck")


def cifar10(
    split: str = "train",
    *,
    directory: str | os.PathLike[str] | None = None,
    download: bool = True,
    verify: bool = True,
) -> ImageSet:
    """Load CIFAR-10: 50,000 training and 10,000 test images of ten classes, 32 x 32 in colour.

    It is searched in the same directories as `mnist`, in a folder cifar-10-batches-bin/. All batches of the
    first directory that has any are read; the name of the result says how many of five.

    Parameters
    ----------
    split : "train" or "test"
    directory : the directory to search first
    download : whether to download files that are not found
    verify : whether to check that the contents are the published ones

    Returns
    -------
    ImageSet : images (n, 32, 32, 3), labels (n,); `images, labels = cifar10()`
    """
    if split not in SPLITS:
        raise ValueError(f"split must be one of {', '.join(SPLITS)}, got {split!r}.")
    paths = _found(split, directory) or _fetched(split, directory, download)
    batches = [read_batch(path, sha256=BATCHES[path.name] if verify else None) for path in paths]
    whole = len(SPLITS[split])
    part = "" if len(paths) == whole else f", {len(paths)} of {whole} batches"
    return ImageSet(
        np.concatenate([images for images, _ in batches]),
        np.concatenate([labels for _, labels in batches]),
        f"CIFAR-10 {split}{part}",
        str(paths[0].parent),
    )


def read_batch(
    path: str | os.PathLike[str], *, sha256: str | None = None
) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """Images (n, 32, 32, 3) and labels (n,) of one batch file."""
    path = Path(path)
    data = path.read_bytes()
    if not data or len(data) % RECORD:
        raise DamagedFile(
            f"{str(path)!r} is truncated or not a CIFAR-10 batch: {len(data):,} bytes, expected a multiple "
            f"of {RECORD:,} (30,730,000 for 10,000 images). Replace it."
        )
    check_hash(path, data, sha256)
    records = np.frombuffer(data, np.uint8).reshape(-1, RECORD)
    labels = records[:, 0].copy()
    if labels.max() >= len(CLASSES):
        raise DamagedFile(
            f"{str(path)!r} is not a CIFAR-10 batch: image {int(np.argmax(labels >= 10))} has the label "
            f"{labels.max()}, expected 0 to 9. (Records of CIFAR-100 are longer.)"
        )
    planes = records[:, 1:].reshape(-1, 3, 32, 32)
    return np.ascontiguousarray(planes.transpose(0, 2, 3, 1)), labels


def _found(split: str, directory: str | os.PathLike[str] | None) -> list[Path] | None:
    """The batches of the first directory that has any."""
    for root in search_path(directory):
        for folder in (root, root / FOLDER):
            if paths := [folder / name for name in SPLITS[split] if (folder / name).is_file()]:
                return paths
    return None


def _fetched(split: str, directory: str | os.PathLike[str] | None, allowed: bool) -> list[Path]:
    advice = "Without a network, photographs() gives two colour images."
    message = absent("CIFAR-10 (binary version)", SPLITS[split], directory, advice)
    if not allowed:
        raise AbsentData(message)
    (archive,) = download([ARCHIVE], ".", message)
    unpack(archive, archive.parent / FOLDER)
    return [archive.parent / FOLDER / name for name in SPLITS[split]]


def unpack(archive: Path, folder: Path) -> None:
    """Extract all batches of an archive into a folder, or none, and delete the archive."""
    with tempfile.TemporaryDirectory(dir=archive.parent, prefix=f".{FOLDER}.") as temporary:
        whole = Path(temporary) / FOLDER
        whole.mkdir()
        with tarfile.open(archive) as tar:
            for name, sha256 in BATCHES.items():
                member = tar.extractfile(f"{FOLDER}/{name}")
                assert member is not None
                data = member.read()
                check_hash(archive, data, sha256)
                (whole / name).write_bytes(data)
        if not folder.exists():
            os.replace(whole, folder)
        else:  # it has some of the batches, or another process has created it meanwhile
            for name in BATCHES:
                os.replace(whole / name, folder / name)
    archive.unlink(missing_ok=True)
