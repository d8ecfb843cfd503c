"""The command `gaussian-neurons`, also as `python -m gaussian_neurons`."""

import importlib.util
import sys

INTERRUPTED = 130  # 128 + SIGINT, as in a shell


def main() -> None:
    """Run the command line, or print which packages are missing."""
    missing = [name for name in ("typer", "rich") if importlib.util.find_spec(name) is None]
    if missing:
        sys.exit(f"The command line needs {' and '.join(missing)}: pip install 'gaussian-neurons[cli]'")
    try:
        from gaussian_neurons.cli import app

        app()
    except KeyboardInterrupt:  # before a command begins, which handles it itself
        sys.exit(INTERRUPTED)


if __name__ == "__main__":
    main()
