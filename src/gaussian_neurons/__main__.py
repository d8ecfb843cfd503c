"""The command `gaussian-neurons`, also as `python -m gaussian_neurons`."""

import sys

from gaussian_neurons.base import extras

INTERRUPTED = 130  # 128 + SIGINT, as in a shell


def main() -> None:
    """Run the command line, or print which packages are missing."""
    try:
        extras.require("The command line needs", "cli", "typer", "rich")
    except ModuleNotFoundError as error:
        sys.exit(str(error))
    try:
        from gaussian_neurons.cli import app

        app()
    except KeyboardInterrupt:  # before a command begins, which handles it itself
        sys.exit(INTERRUPTED)


if __name__ == "__main__":
    main()
