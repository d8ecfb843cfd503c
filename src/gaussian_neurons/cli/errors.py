"""Errors of commands as one message and an exit code: bad input, missing packages, Ctrl-C, a closed pipe."""

import os
import re
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import typer
from rich.console import Console
from rich.text import Text

from gaussian_neurons.base import extras
from gaussian_neurons.base.bad_rows import BadRow

FAILED = 1
INTERRUPTED = 130  # 128 + SIGINT, as in a shell
CLOSED_PIPE = 141  # 128 + SIGPIPE

# What the library's messages call its arguments, and the options of the command line.
OPTIONS = {
    r"\bX (must hold|holds)\b": r"DATA \1",
    r"\bheader=True\b": "--header",
    r"\bheader=False\b": "--no-header",
    r"\bformat=(?!\w)": "--format csv, jsonl, npy or parquet.",
    r"\binit='(\w+)'": r"--init \1",
    r"\bbackend='(\w+)'": r"--backend \1",
    r"\bshape='(\w+)'": r"--shape \1",
    r"\bn_clusters=\.\.\.": "--clusters",
    r"\bn_neurons=(\d+)": r"--neurons \1",
    r"\bn_neurons\b": "--neurons",
    r"\blarger width\b": "larger --width",
    r"\bsave\(\)": "fit",
    r"go on with them: rotated=True": "add --rotated",
    r"\bscale='columns'( \(.*?\))?": "--standardize",
    r"Load it and learn on with a checkpoint of another name": "Choose another file for --checkpoint",
    r"create model and stream as they were": "use the data and options that it began with",
    r"; on_write_error='warn'[^.]*": "",
}


@contextmanager
def handle_errors(kept: str = "Nothing was written.") -> Iterator[None]:
    """Print the expected errors of a command as a message and exit; a decorator or a context manager.

    Other errors are bugs and keep their traceback. Warnings are printed as one line each.

    Parameters
    ----------
    kept : the message about results if Ctrl-C ends the command

    Examples
    --------
    >>> with handle_errors():
    ...     print("no error")
    no error
    """
    with warnings.catch_warnings():
        warnings.simplefilter("always", UserWarning)
        warnings.showwarning = _show
        try:
            yield
            sys.stdout.flush()
        except BrokenPipeError:
            _close_stdout()
            raise typer.Exit(CLOSED_PIPE) from None
        except KeyboardInterrupt:
            print_message("Interrupted.", kept, "yellow")
            raise typer.Exit(INTERRUPTED) from None
        except (ValueError, OSError, ModuleNotFoundError, MemoryError) as error:
            print_message("Error:", message_of(error), "bold red")
            raise typer.Exit(FAILED) from None


def require(*packages: str, extra: str = "cli") -> None:
    """Raise an error with the command to install missing packages."""
    extras.require("this command needs", extra, *packages)


def warn(text: str) -> str:
    """Print a warning, and return it with the option names of the command line."""
    shown = _with_options(text[:1].upper() + text[1:])
    print_message("Warning:", shown, "yellow")
    return shown


def print_message(head: str, text: str, style: str) -> None:
    """Print a message on standard error: wrapped on a terminal, in one line elsewhere."""
    console = Console(stderr=True, highlight=False)
    console.print(Text.assemble((head, style), " ", text), soft_wrap=not console.is_terminal)


def message_of(error: BaseException) -> str:
    """The message of an error, with the option names of the command line."""
    if isinstance(error, OSError) and error.filename is not None:
        text = f"{str(error.filename)!r}: {error.strerror}."
    else:
        text = str(error) or type(error).__name__
    text = _with_options(text)
    return f"{text} To skip such rows, add --on-bad skip." if isinstance(error, BadRow) else text


def _with_options(text: str) -> str:
    for pattern, option in OPTIONS.items():
        text = re.sub(pattern, option, text)
    return text


def _show(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
    """Replaces Python's own function, which prints a line of code."""
    warn(str(message))


def _close_stdout() -> None:
    """Discard what is left in the buffer, so that Python does not fail to flush it at exit."""
    with suppress(OSError, ValueError):
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, sys.stdout.fileno())
        os.close(null)
