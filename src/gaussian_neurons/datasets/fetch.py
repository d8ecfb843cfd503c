"""Find the files of a data set in the places where they may lie, or fetch them."""

import hashlib
import importlib.util
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

VARIABLE = "GAUSSIAN_NEURONS_DATA"
SECONDS = 30.0  # to wait for a mirror


class AbsentData(FileNotFoundError):
    """A data set that is nowhere, and could not be fetched."""


class DamagedFile(ValueError):
    """A file of a data set that is not what it should be."""


@dataclass(frozen=True)
class Remote:
    """A file that can be fetched, from whichever mirror has it."""

    name: str
    sha256: str
    mirrors: tuple[str, ...]  # folders, each ending in a slash


def places(directory: str | os.PathLike[str] | None) -> list[Path]:
    """Where data is looked for: a given directory, that of the environment, the user's cache."""
    found = [Path(place).expanduser() for place in (directory, os.environ.get(VARIABLE)) if place]
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
    """The files, each under one of its names, of the first place or folder in a place that has them all."""
    for place in places(directory):
        for folder in (".", *folders):
            found = [_first_file(place / folder, names) for names in wanted]
            if all(found):
                return [path for path in found if path is not None]
    return None


def _first_file(folder: Path, names: Sequence[str]) -> Path | None:
    return next((folder / name for name in names if (folder / name).is_file()), None)


def download(remotes: Sequence[Remote], folder: str, say: str) -> list[Path]:
    """Fetch files into the user's cache, each from the first mirror that gives the right bytes.

    A file takes its name only once it is there whole and its hash is right.
    """
    missing = [name for name in ("pooch", "platformdirs") if importlib.util.find_spec(name) is None]
    cache = cache_directory()
    if missing or cache is None:
        raise AbsentData(f"{say}\nTo download them: pip install 'gaussian-neurons[data]'")
    return [_download(remote, cache / folder, say) for remote in remotes]


def _download(remote: Remote, folder: Path, say: str) -> Path:
    import logging

    import pooch

    pooch.get_logger().setLevel(logging.WARNING)
    looked_at = bool(getattr(sys.stderr, "isatty", bool)())
    bar = looked_at and importlib.util.find_spec("tqdm") is not None
    tried = []
    for mirror in remote.mirrors:
        url = mirror + remote.name
        if looked_at:
            print(f"fetching {url}", file=sys.stderr)
        try:
            got = pooch.retrieve(
                url,
                known_hash=f"sha256:{remote.sha256}",
                fname=remote.name,
                path=folder,
                downloader=pooch.HTTPDownloader(progressbar=bar, timeout=SECONDS),
            )
        except (OSError, ValueError) as error:  # what requests and pooch raise: no network, 404, wrong hash
            tried.append(f"{url}: {_reason(error)}")
        else:
            return Path(got)
    raise AbsentData(f"{say}\nDownloading failed:\n  " + "\n  ".join(tried))


def _reason(error: Exception) -> str:
    text = " ".join(str(error).split())
    if "resolve" in text or "name resolution" in text:  # what there is of it says the same at length
        return "no network, or no such address"
    return text if len(text) < 400 else text[:400] + "..."


def absent(name: str, files: Sequence[str], directory: str | os.PathLike[str] | None, advice: str) -> str:
    """What to say where the files of a data set are nowhere."""
    searched = "".join(f"\n  {place}" for place in places(directory))
    where = f"Searched, with their subfolders of the usual names:{searched}\n" if searched else ""
    return (
        f"{name} is not here. Files: {', '.join(files)}. {where}Put them into a directory of yours and pass "
        f"directory=..., or set {VARIABLE} to it. {advice}"
    )


def check_hash(path: Path, data: bytes | bytearray, expected: str | None) -> None:
    """Refuse contents that are not the published ones."""
    if expected is None:
        return
    actual = hashlib.sha256(data).hexdigest()
    if actual != expected:
        raise DamagedFile(
            f"{str(path)!r} is damaged or not the published file: the SHA-256 of its contents is {actual}, "
            f"expected {expected}. Replace it; for a file of your own in this layout pass verify=False."
        )
