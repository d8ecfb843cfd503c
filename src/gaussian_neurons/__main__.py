"""The command `gaussian-neurons`, also as `python -m gaussian_neurons`."""

import importlib.util
import sys


def main() -> None:
    """Run the command line, or say what it needs."""
    missing = [name for name in ("typer", "rich") if importlib.util.find_spec(name) is None]
    if missing:
        sys.exit(f"The command line needs {' and '.join(missing)}: pip install 'gaussian-neurons[cli]'")
    from gaussian_neurons.cli import app

    app()


if __name__ == "__main__":
    main()
