"""What goes wrong in a command, told in a sentence: mistakes, missing packages, Ctrl-C, a closed pipe."""

import importlib.util
import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import typer
from rich.console import Console
from rich.text import Text

from gaussian_neurons.base.bad_rows import BadRow

MISTAKE = 1
INTERRUPTED = 130  # 128 + SIGINT, as a shell has it
CLOSED_PIPE = 141  # 128 + SIGPIPE

# What the library calls its arguments, and what they are called here.
OPTIONS = {
    "Say header=True or header=False.": "Say --header or --no-header.",
    "Say format=": "Say --format csv, jsonl, npy or parquet.",
    "init='samples'": "--init samples",
    "a file that save() wrote": "a file that the command fit wrote",
    "save() wrote it. Load it and learn on with a checkpoint of another name.": (
        "it is not a checkpoint. Choose another name for --checkpoint."
    ),
    "make model and stream anew as they were": "give the data and the options it began with",
    "; on_write_error='warn' would go on without it": "",
}


@contextmanager
def told(kept: str = "Nothing was written.") -> Iterator[None]:
    """Around or above a command: trouble that is nobody's bug becomes a message and an exit code.

    Anything else keeps its traceback. Warnings become lines of their own.

    Parameters
    ----------
    kept : what to say of the results when Ctrl-C ends the command

    Examples
    --------
    >>> with told():
    ...     print("nothing went wrong")
    nothing went wrong
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
            say("Interrupted.", kept, "yellow")
            raise typer.Exit(INTERRUPTED) from None
        except (ValueError, OSError, ModuleNotFoundError) as error:
            say("Error:", sentence(error), "bold red")
            raise typer.Exit(MISTAKE) from None


def require(*packages: str, extra: str = "cli") -> None:
    """Raise an error that says what to install where a package is missing."""
    missing = [name for name in packages if importlib.util.find_spec(name) is None]
    if missing:
        raise ModuleNotFoundError(
            f"this needs {' and '.join(missing)}: pip install 'gaussian-neurons[{extra}]'"
        )


def warn(text: str) -> None:
    """A line that begins with Warning."""
    say("Warning:", text, "yellow")


def say(head: str, text: str, style: str) -> None:
    """A message on standard error: wrapped for a reader, in one line for a program."""
    console = Console(stderr=True, highlight=False)
    console.print(Text.assemble((head, style), " ", text), soft_wrap=not console.is_terminal)


def sentence(error: BaseException) -> str:
    """What an error says, in the words of the command line."""
    if isinstance(error, OSError) and error.filename is not None:
        text = f"{str(error.filename)!r}: {error.strerror}."
    else:
        text = str(error) or type(error).__name__
    for ours, theirs in OPTIONS.items():
        text = text.replace(ours, theirs)
    if isinstance(error, BadRow):
        text += " To leave such rows out, add --on-bad skip."
    return text


def _show(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
    """In place of Python's own, which would name a line of code."""
    text = str(message)
    for ours, theirs in OPTIONS.items():
        text = text.replace(ours, theirs)
    warn(text[:1].upper() + text[1:])


def _close_stdout() -> None:
    """Nobody reads any more: what is still to be flushed must not complain when Python ends."""
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
