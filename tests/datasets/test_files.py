"""Data sets: search path, contents, downloads, damaged files."""

import gzip
import hashlib
import io
import re
import shutil
import tarfile
import threading
import tracemalloc
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest

from gaussian_neurons.base import extras
from gaussian_neurons.datasets import (
    DamagedFile,
    cifar10,
    cifar10_files,
    fetch,
    mnist,
    mnist_files,
    mnist_sample,
    photographs,
)
from gaussian_neurons.datasets.cifar10_files import read_batch
from gaussian_neurons.datasets.mnist_files import read_idx
from tests.conftest import data_directory

RANDOM = np.random.default_rng(0)


def idx_bytes(array):
    head = bytes([0, 0, 8, array.ndim]) + b"".join(int(n).to_bytes(4, "big") for n in array.shape)
    return head + array.tobytes()


@pytest.fixture(autouse=True)
def no_data(tmp_path, monkeypatch):
    """No data in the environment, an empty cache, and no mirror."""
    monkeypatch.delenv(fetch.VARIABLE, raising=False)
    monkeypatch.setattr(fetch, "cache_directory", lambda: tmp_path / "cache")
    monkeypatch.setattr(mnist_files, "MIRRORS", ("http://127.0.0.1:9/",))
    monkeypatch.setattr(
        cifar10_files, "ARCHIVE", fetch.Remote("cifar-10-binary.tar.gz", "0" * 64, ("http://127.0.0.1:9/",))
    )


@pytest.fixture
def small(tmp_path):
    """A folder with ten images in the format of MNIST."""
    images = RANDOM.integers(0, 256, (10, 28, 28), np.uint8)
    labels = np.arange(10, dtype=np.uint8)
    folder = tmp_path / "small"
    folder.mkdir()
    (folder / "train-images-idx3-ubyte").write_bytes(idx_bytes(images))
    (folder / "train-labels-idx1-ubyte").write_bytes(idx_bytes(labels))
    return folder, images, labels


# ---- the published data ----------------------------------------------------------------------------------


def test_mnist():
    train, test = mnist(directory=data_directory("mnist")), mnist("test", directory=data_directory("mnist"))
    assert train.images.shape == (60_000, 28, 28)
    assert test.images.shape == (10_000, 28, 28)
    assert train.images.dtype == np.uint8
    assert np.bincount(train.labels).tolist() == [5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949]
    assert np.bincount(test.labels).tolist() == [980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009]
    assert train.images.mean() == pytest.approx(33.3184, abs=1e-4)  # the well-known 0.1307 of 255
    assert str(train).startswith("MNIST train: 60,000 images of 28 x 28, from ")


def test_one_batch_of_cifar10():
    data = cifar10(directory=data_directory("cifar-10-batches-bin"))
    images, labels = data
    assert images.shape == (10_000, 32, 32, 3)
    assert np.bincount(labels).tolist() == [1005, 974, 1032, 1016, 999, 937, 1030, 1001, 1025, 981]
    assert data.name == "CIFAR-10 train, 1 of 5 batches"
    assert labels[0] == 6  # a frog
    assert images[0, 0, 0].tolist() == [59, 62, 63]
    assert images[0, 0, 1].tolist() == [43, 46, 45]


def test_bundled_digits_are_digits_of_mnist():
    sample, mnist_ = mnist_sample(), mnist(directory=data_directory("mnist"))
    assert sample.images.shape == (5000, 28, 28)
    assert np.bincount(sample.labels).tolist() == 10 * [500]
    known = {image.tobytes(): label for image, label in zip(mnist_.images, mnist_.labels, strict=True)}
    assert all(known[i.tobytes()] == k for i, k in zip(sample.images, sample.labels, strict=True))


def test_photographs():
    data = photographs()
    assert data.images.shape == (2, 427, 640, 3)
    assert data.images.dtype == np.uint8
    assert data.images.std(axis=3).max() > 50  # in colour
    assert "scikit-learn" in str(data)
    assert data.sha256 == photographs().sha256
    assert data.facts()["images"] == [2, 427, 640, 3]


# ---- search path ---------------------------------------------------------------------------


def test_gzipped_and_plain_files_in_the_usual_subfolders(small, tmp_path):
    folder, images, labels = small
    for subfolder in ("", "mnist", "MNIST/raw"):
        root = tmp_path / f"root-{subfolder.replace('/', '-')}"
        shutil.copytree(folder, root / subfolder)
        read = mnist(directory=root, verify=False)
        assert (read.images == images).all()
        assert (read.labels == labels).all()
        assert read.source == str(root / subfolder)
    gz = tmp_path / "gz"
    gz.mkdir()
    for path in folder.iterdir():
        (gz / f"{path.name}.gz").write_bytes(gzip.compress(path.read_bytes()))
    assert (mnist(directory=gz, verify=False).images == images).all()
    dotted = tmp_path / "dotted"
    dotted.mkdir()
    for path in folder.iterdir():
        (dotted / path.name.replace("-idx", ".idx")).write_bytes(path.read_bytes())
    assert (mnist(directory=dotted, verify=False).images == images).all()


def test_order_of_the_search_path(small, tmp_path, monkeypatch):
    folder, *_ = small
    shutil.copytree(folder, tmp_path / "cache" / "mnist")
    assert mnist(verify=False).source == str(tmp_path / "cache" / "mnist")
    monkeypatch.setenv(fetch.VARIABLE, str(folder))
    assert mnist(verify=False).source == str(folder)
    shutil.copytree(folder, tmp_path / "own")
    assert mnist(directory=tmp_path / "own", verify=False).source == str(tmp_path / "own")
    assert mnist(directory=tmp_path, verify=False).source == str(folder)  # the next directory
    (tmp_path / "own" / "train-labels-idx1-ubyte").unlink()  # incomplete: the next directory
    assert mnist(directory=tmp_path / "own", verify=False).source == str(folder)


@pytest.mark.parametrize(
    ("load", "file"), [(mnist, "train-images-idx3-ubyte.gz"), (cifar10, "data_batch_1.bin")]
)
def test_absent_data_without_a_network(load, file, tmp_path, monkeypatch):
    monkeypatch.setenv(fetch.VARIABLE, str(tmp_path / "environment"))
    with pytest.raises(FileNotFoundError) as caught:
        load(directory=tmp_path / "own")
    text = str(caught.value)
    for part in (file, str(tmp_path / "own"), str(tmp_path / "environment"), str(tmp_path / "cache")):
        assert part in text
    assert "Downloading failed" in text
    assert "127.0.0.1:9" in text
    assert "Without a network" in text
    with pytest.raises(FileNotFoundError) as caught:
        load(directory=tmp_path / "own", download=False)
    assert "Downloading" not in str(caught.value)


def test_missing_pooch_names_the_extra(monkeypatch):
    found = fetch.importlib.util.find_spec
    monkeypatch.setattr(
        fetch.importlib.util, "find_spec", lambda name: None if name == "pooch" else found(name)
    )
    with pytest.raises(FileNotFoundError, match=re.escape(extras.install("data"))):
        mnist()


@pytest.mark.parametrize("load", [mnist, cifar10])
def test_unknown_split_is_rejected(load):
    with pytest.raises(ValueError, match="train, test, got 'valid'"):
        load("valid")


# ---- downloads ---------------------------------------------------------------------------------------


class Mirror(SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@pytest.fixture
def mirrors(tmp_path):
    """An HTTP server with three folders: an empty one, one with wrong files, one with the right ones."""
    root = tmp_path / "server"
    for name in ("empty", "wrong", "right"):
        (root / name).mkdir(parents=True)
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Mirror, directory=str(root)))
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    base = f"http://127.0.0.1:{server.server_port}"
    yield root, tuple(f"{base}/{name}/" for name in ("empty", "wrong", "right"))
    server.shutdown()
    server.server_close()


def serve(root, files):
    for name, content in files.items():
        (root / "right" / name).write_bytes(content)
        (root / "wrong" / name).write_bytes(content[:-1] + bytes([content[-1] ^ 1]))


def sha256(content):
    return hashlib.sha256(content).hexdigest()


def test_mnist_is_downloaded_from_the_first_mirror_with_the_right_contents(
    mirrors, small, tmp_path, monkeypatch
):
    root, urls = mirrors
    folder, images, _ = small
    plain = {path.name: path.read_bytes() for path in folder.iterdir()}
    zipped = {name: gzip.compress(content) for name, content in plain.items()}
    serve(root, {f"{name}.gz": content for name, content in zipped.items()})
    known = {name: (sha256(zipped[name]), sha256(plain[name])) for name in plain}
    monkeypatch.setattr(mnist_files, "MIRRORS", urls)
    monkeypatch.setattr(mnist_files, "FILES", known)
    data = mnist()
    assert (data.images == images).all()
    assert data.source == str(tmp_path / "cache" / "mnist")
    assert sorted(path.name for path in (tmp_path / "cache" / "mnist").iterdir()) == sorted(
        f"{name}.gz" for name in plain
    )  # no partial file is left
    monkeypatch.setattr(mnist_files, "MIRRORS", ())  # the next call finds it in the cache
    assert (mnist().images == images).all()


def test_wrong_contents_of_mirrors_are_not_kept(mirrors, small, tmp_path, monkeypatch):
    root, urls = mirrors
    folder, *_ = small
    serve(root, {f"{path.name}.gz": gzip.compress(path.read_bytes()) for path in folder.iterdir()})
    monkeypatch.setattr(mnist_files, "MIRRORS", urls)  # the published hashes are different
    with pytest.raises(FileNotFoundError) as caught:
        mnist()
    assert str(caught.value).count("\n  http://127.0.0.1") == 3
    assert "hash" in str(caught.value).lower()
    assert not list((tmp_path / "cache").rglob("*ubyte*"))


def cifar_archive(batches):
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as tar:
        for name, content in batches.items():
            info = tarfile.TarInfo(f"{cifar10_files.FOLDER}/{name}")
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
    return packed.getvalue()


def test_cifar10_is_downloaded_and_extracted(mirrors, tmp_path, monkeypatch):
    root, urls = mirrors
    batches = {name: cifar_bytes(3, seed) for seed, name in enumerate(cifar10_files.BATCHES)}
    archive = cifar_archive(batches)
    serve(root, {"cifar-10-binary.tar.gz": archive})
    monkeypatch.setattr(
        cifar10_files, "ARCHIVE", fetch.Remote("cifar-10-binary.tar.gz", sha256(archive), urls)
    )
    monkeypatch.setattr(cifar10_files, "BATCHES", {name: sha256(b) for name, b in batches.items()})
    train, test = cifar10(), cifar10("test")
    assert train.images.shape == (15, 32, 32, 3)
    assert test.images.shape == (3, 32, 32, 3)
    assert train.name == "CIFAR-10 train"
    names = {path.name for path in (tmp_path / "cache" / cifar10_files.FOLDER).iterdir()}
    assert names == set(batches)
    assert not (tmp_path / "cache" / "cifar-10-binary.tar.gz").exists()


def test_archive_with_a_changed_batch_is_not_extracted(tmp_path, monkeypatch):
    batches = {name: cifar_bytes(3, seed) for seed, name in enumerate(cifar10_files.BATCHES)}
    monkeypatch.setattr(cifar10_files, "BATCHES", {name: sha256(b) for name, b in batches.items()})
    batches["test_batch.bin"] = batches["test_batch.bin"][:-1] + b"x"
    (tmp_path / "archive.tar.gz").write_bytes(cifar_archive(batches))
    with pytest.raises(DamagedFile, match="SHA-256"):
        cifar10_files.unpack(tmp_path / "archive.tar.gz", tmp_path / "folder")
    assert [path.name for path in tmp_path.iterdir()] == ["archive.tar.gz"]


def test_archive_completes_a_folder_with_some_batches(tmp_path, monkeypatch):
    batches = {name: cifar_bytes(3, seed) for seed, name in enumerate(cifar10_files.BATCHES)}
    monkeypatch.setattr(cifar10_files, "BATCHES", {name: sha256(b) for name, b in batches.items()})
    (tmp_path / "archive.tar.gz").write_bytes(cifar_archive(batches))
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "data_batch_1.bin").write_bytes(batches["data_batch_1.bin"])
    cifar10_files.unpack(tmp_path / "archive.tar.gz", tmp_path / "folder")
    assert {path.name for path in (tmp_path / "folder").iterdir()} == set(batches)


def test_first_directory_with_any_batch_is_used(tmp_path):
    for folder, name in (("own", "data_batch_2.bin"), ("cache", "data_batch_1.bin")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / name).write_bytes(cifar_bytes(3))
    assert cifar10(directory=tmp_path / "own", verify=False).source == str(tmp_path / "own")


# ---- damaged files -----------------------------------------------------------------------------------------


def cifar_bytes(count, seed=0):
    records = np.random.default_rng(seed).integers(0, 256, (count, cifar10_files.RECORD), np.uint8)
    records[:, 0] %= 10
    return records.tobytes()


def test_colour_planes_become_pixels(tmp_path):
    record = np.zeros((1, 3073), np.uint8)
    record[0, 0] = 7
    record[0, 1 + 5], record[0, 1 + 1024 + 5], record[0, 1 + 2048 + 5] = 10, 20, 30
    (tmp_path / "b.bin").write_bytes(record.tobytes())
    images, labels = read_batch(tmp_path / "b.bin")
    assert images[0, 0, 5].tolist() == [10, 20, 30]
    assert labels.tolist() == [7]


def test_changed_contents_are_rejected(small):
    folder, *_ = small
    with pytest.raises(DamagedFile, match=r"train-images.*SHA-256.*expected ba891046.*verify=False"):
        mnist(directory=folder)


def test_images_and_labels_must_match(small):
    folder, *_ = small
    (folder / "train-labels-idx1-ubyte").write_bytes(idx_bytes(np.zeros(9, np.uint8)))
    with pytest.raises(DamagedFile, match=r"10 images.*9 labels"):
        mnist(directory=folder, verify=False)


def test_damaged_cifar_batches_are_rejected(tmp_path):
    (tmp_path / "data_batch_1.bin").write_bytes(cifar_bytes(3)[:-1])
    with pytest.raises(DamagedFile, match=r"data_batch_1.bin.*9,218 bytes, expected a multiple of 3,073"):
        cifar10(directory=tmp_path)
    (tmp_path / "data_batch_1.bin").write_bytes(cifar_bytes(3))
    with pytest.raises(DamagedFile, match="SHA-256"):  # complete records, but too few
        cifar10(directory=tmp_path)
    (tmp_path / "data_batch_1.bin").write_bytes(b"\x0a" + cifar_bytes(3)[1:])
    with pytest.raises(DamagedFile, match="image 0 has the label 10"):
        cifar10(directory=tmp_path, verify=False)


IDX = idx_bytes(RANDOM.integers(0, 256, (5, 4, 3), np.uint8))
WRONG_SHAPES = [
    (2**32 - 1,) * 3,
    (2**31, 28, 28),
    (0, 28, 28),
    (5, 4, 4),
    (5, 4, 2),
    (1, 1, 2**32 - 1),
    (2**16, 2**16, 1),
]


@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "gzipped"])
def test_damaged_idx_files_are_rejected(tmp_path, pack):
    """Truncated at every length, one byte too long, header bytes flipped, wrong dimensions."""
    path = tmp_path / "train-images-idx3-ubyte"
    damaged = [pack(IDX[:n]) for n in range(len(IDX))] + [pack(IDX + b"\0")]
    damaged += [pack(IDX[:k] + bytes([IDX[k] ^ bit]) + IDX[k + 1 :]) for k in range(16) for bit in (1, 128)]
    damaged += [
        pack(IDX[:4] + b"".join(n.to_bytes(4, "big") for n in shape) + IDX[16:]) for shape in WRONG_SHAPES
    ]
    tracemalloc.start()
    try:
        for content in damaged:
            path.write_bytes(content)
            with pytest.raises(DamagedFile, match="train-images-idx3-ubyte"):
                read_idx(path, dimensions=3)
        assert tracemalloc.get_traced_memory()[1] < 8 << 20
    finally:
        tracemalloc.stop()
    path.write_bytes(pack(IDX))
    assert read_idx(path, dimensions=3).shape == (5, 4, 3)


def test_damaged_gzip_files_are_rejected(tmp_path):
    path = tmp_path / "images.gz"
    whole = gzip.compress(IDX, mtime=0)
    for n in range(len(whole)):
        path.write_bytes(whole[:n])
        with pytest.raises(DamagedFile, match=r"images.gz"):
            read_idx(path, dimensions=3)
    for k in range(len(whole)):
        for bit in (1, 16, 128):
            path.write_bytes(whole[:k] + bytes([whole[k] ^ bit]) + whole[k + 1 :])
            try:
                read = read_idx(path, dimensions=3)
            except DamagedFile:
                continue
            assert idx_bytes(read) == IDX  # the byte does not affect the contents, for example the time


def test_decompression_bomb_is_not_decompressed(tmp_path):
    """The header announces ten bytes; 64 MiB of zeros follow, compressed to 64 KiB."""
    path = tmp_path / "bomb.gz"
    with gzip.open(path, "wb", compresslevel=1) as file:
        file.write(bytes([0, 0, 8, 1]) + (10).to_bytes(4, "big") + bytes(64 << 20))
    tracemalloc.start()
    try:
        with pytest.raises(DamagedFile, match="more"):
            read_idx(path, dimensions=1)
        assert tracemalloc.get_traced_memory()[1] < 8 << 20
    finally:
        tracemalloc.stop()


def test_random_bytes_are_rejected(tmp_path):
    path = tmp_path / "random"
    for seed in range(60):
        random = np.random.default_rng(seed)
        content = random.integers(0, 256, random.integers(0, 400), np.uint8).tobytes()
        path.write_bytes(
            (b"\x1f\x8b\x08" if seed % 3 == 0 else b"\0\0\x08\x03" if seed % 3 == 1 else b"") + content
        )
        with pytest.raises(DamagedFile):
            read_idx(path, dimensions=3)
        with pytest.raises(DamagedFile):
            read_batch(path)
