"""Find the files of a data set in the search path, or download them."""

import hashlib
import importlib.util
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from gaussian_neurons.base import extras

VARIABLE = "GAUSSIAN_NEURONS_DATA"
SECONDS = 30.0  # timeout of a mirror


class AbsentData(FileNotFoundError):
    """A data set that was not found and could not be downloaded."""


class DamagedFile(ValueError):
    """A file of a data set with wrong contents."""


@dataclass(frozen=True)
class Remote:
    """A file that can be downloaded from one of several mirrors."""

    name: str
    sha256: str
    mirrors: tuple[str, ...]  # URLs of folders, each with a final slash


def search_path(directory: str | os.PathLike[str] | None) -> list[Path]:
    """The directories to search: the given one, that of the environment variable, the user's cache."""
    found = [Path(root).expanduser() for root in (directory, os.environ.get(VARIABLE)) if root]
    cache = cache_directory()
    return found if cache is None else [*found, cache]


def cache_directory() -> Path | None:
    """The user's cache directory for this library, or None without platformdirs."""
    if importlib.util.find_spec("platformdirs") is None:
        return None
    import platformdirs

    return Path(platformdirs.user_cache_dir("gaussian-neurons", appauthor=False))


def find(
    wanted: Sequence[Sequence[str]], folders: Sequence[str], directory: str | os.PathLike[str] | None
) -> list[Path] | None:
    """The files, each with one of its names, from the first directory or subfolder that has them all."""
    for root in search_path(directory):
        for folder in (".", *folders):
            found = [_first_file(root / folder, names) for names in wanted]
            if all(found):
                return [path for path in found if path is not None]
    return None


def _first_file(folder: Path, names: Sequence[str]) -> Path | None:
    return next((folder / name for name in names if (folder / name).is_file()), None)


def download(remotes: Sequence[Remote], folder: str, message: str) -> list[Path]:
    """Download files into the user's cache, each from the first mirror that gives the right contents.

    A file gets its final name only when it is complete and its hash is right. `message` begins the error if
    no mirror works.
    """
    missing = [name for name in ("pooch", "platformdirs") if importlib.util.find_spec(name) is None]
    cache = cache_directory()
    if missing or cache is None:
        raise AbsentData(f"{message}\nTo download them: {extras.install('data')}")
    return [_download(remote, cache / folder, message) for remote in remotes]


def _download(remote: Remote, folder: Path, message: str) -> Path:
    import logging

    import pooch

    pooch.get_logger().setLevel(logging.WARNING)
    on_terminal = bool(getattr(sys.stderr, "isatty", bool)())
    bar = on_terminal and importlib.util.find_spec("tqdm") is not None
    failures = []
    for mirror in remote.mirrors:
        url = mirror + remote.name
        if on_terminal:
            print(f"downloading {url}", file=sys.stderr)
        try:
            path = pooch.retrieve(
                url,
                known_hash=f"sha256:{remote.sha256}",
                fname=remote.name,
                path=folder,
                downloader=pooch.HTTPDownloader(progressbar=bar, timeout=SECONDS),
            )
        except (OSError, ValueError) as error:  # raised by requests and pooch: no network, 404, wrong hash
            failures.append(f"{url}: {_reason(error)}")
        else:
            return Path(path)
    raise AbsentData(f"{message}\nDownloading failed:\n  " + "\n  ".join(failures))


def _reason(error: Exception) -> str:
    text = " ".join(str(error).split())
    if "resolve" in text:  # the full text is long and says no more
        return "no network, or unknown host"
    return text if len(text) < 400 else text[:400] + "..."


def absent(name: str, files: Sequence[str], directory: str | os.PathLike[str] | None, advice: str) -> str:
    """The error message if the files of a data set are not found."""
    searched = "".join(f"\n  {root}" for root in search_path(directory))
    where = f"Searched these directories and their usual subfolders:{searched}\n" if searched else ""
    return (
        f"{name} was not found. Files: {', '.join(files)}. {where}Put them into a directory and pass "
        f"directory=..., or set {VARIABLE} to it. {advice}"
    )


def check_hash(path: Path, data: bytes | bytearray, expected: str | None) -> None:
    """Raise DamagedFile if the contents are not the published ones."""
    if expected is None:
        return
    actual = hashlib.sha256(data).hexdigest()
    if actual != expected:
        raise DamagedFile(
            f"{str(path)!r} is damaged or not the published file: the SHA-256 of its contents is {actual}, "
            f"expected {expected}. Replace it; for another file in this format pass verify=False."
        )
