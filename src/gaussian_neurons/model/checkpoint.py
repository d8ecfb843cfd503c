"""The checkpoint of a run: one file, from which a killed run resumes with the same bits."""

import json
import os
import re
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

from gaussian_neurons.base import files
from gaussian_neurons.base.warn import warn
from gaussian_neurons.model import model_file

ON_WRITE_ERROR = ("raise", "warn")


@dataclass(frozen=True)
class Reached:
    """How far a run has come."""

    start: int = 0  # position of the stream at which the run began
    taken: int = 0  # rows since then
    called_back: bool = True  # whether the callback was called for the last of them
    stopped: bool = False  # the callback stopped the run: there is nothing to resume
    source: Any = None  # what the stream needs to go on, if the number of the row is not enough


class Checkpoint:
    """The file of a run.

    It is a model file that also identifies the run: the model's parameters and what it had learned before,
    the stream and the position in it at which the run began.
    """

    def __init__(self, path: str | os.PathLike[str], run: Mapping[str, Any], on_write_error: str) -> None:
        self._path = files.full_path(path)  # a callback may change the folder
        self._on_write_error = on_write_error
        try:
            text = json.dumps(run, allow_nan=False)
        except (TypeError, ValueError) as error:
            raise ValueError(f"the stream is not described by JSON values: {error}.") from None
        self._run: dict[str, Any] = json.loads(text)  # as it is read again

    def locked(self) -> AbstractContextManager[None]:
        """Lock the file for a run; raises BlockingIOError if another run uses it."""
        return files.locked(self._path)

    def resume(self, n_samples: int | None) -> tuple[model_file.Loaded, Reached] | None:
        """What an earlier run left, or None without one. Refuses the file of another run."""
        files.sweep(self._path)
        if not self._path.is_file():
            self._try_the_folder()
            return None
        loaded = model_file.load(self._path, self._run["parameters"])
        if loaded.run is None:
            raise ValueError(
                f"{str(self._path)!r} holds a model written by save(), not a run to resume. Load it and "
                f"learn on with a checkpoint of another name."
            )
        theirs = loaded.run["began"]
        reached = Reached(
            theirs["position"], *(loaded.run[name] for name in ("taken", "called_back", "stopped", "source"))
        )
        goes_on = (  # the model that wrote the file, and the stream where that left it
            self._run["model"] == loaded.digest
            and self._run["stream"] == theirs["stream"]
            and self._run["position"] == reached.start + reached.taken
        )
        if theirs != self._run and not goes_on:
            raise ValueError(
                f"{str(self._path)!r} belongs to another run: {_differences(theirs, self._run)}. To resume "
                f"it, create model and stream as they were; otherwise choose another file or delete it."
            )
        if goes_on:
            self._run = theirs
        if n_samples is not None and reached.taken > n_samples:
            raise ValueError(
                f"{str(self._path)!r} already holds {reached.taken:,} samples, more than n_samples="
                f"{n_samples:,}. Ask for as many or more, or delete it to start over."
            )
        return loaded, reached

    def write(self, contents: model_file.Contents, reached: Reached) -> None:
        """Replace the file; if that fails, raise or warn, as the user chose. The old one stays."""
        run = {"began": self._run} | {
            name: getattr(reached, name) for name in ("taken", "called_back", "stopped", "source")
        }
        try:
            model_file.write(self._path, contents, run)
        except OSError as error:
            self._complain(error, f"The last checkpoint stays. {reached.taken:,} samples are learned")

    def _try_the_folder(self) -> None:
        """Check before hours of learning that a file can be written."""
        try:
            files.try_to_write(self._path)
        except OSError as error:
            self._complain(error, "Nothing is learned yet")

    def _complain(self, error: OSError, state: str) -> None:
        reason = str(error).rstrip(".")
        text = f"the checkpoint {str(self._path)!r} cannot be written: {reason}. {state}"
        if self._on_write_error == "raise":
            text += "; on_write_error='warn' goes on without it."
            raise (OSError(error.errno, text) if error.errno else type(error)(text)) from error
        warn(f"{text}; going on without it.", RuntimeWarning)


def _differences(theirs: Any, ours: Any, name: str = "") -> str:
    """What differs between two runs, by name."""
    if name.strip() == "model":
        what = {True: "had learned nothing", False: "had learned something else"}
        return f"its model {what[theirs is None]} before; this one {what[ours is None]}"
    if _is_hash(theirs) and _is_hash(ours):
        return f"its {name.strip()} is another one"
    if not (isinstance(theirs, dict) and isinstance(ours, dict)):
        return f"its {name.strip()} was {theirs!r}, here it is {ours!r}"
    names = [key for key in ours | theirs if theirs.get(key) != ours.get(key)]
    return "; ".join(_differences(theirs.get(key), ours.get(key), f"{name} {key}") for key in names)


def _is_hash(value: Any) -> bool:
    return isinstance(value, str) and re.fullmatch("[0-9a-f]{64}", value) is not None
