"""Try an installed library: every promised name, the first example of the README, and with `--demo` the demo.

    python -I release/smoke.py CLONE FOLDER [--demo]

Of the clone, it reads only README.md and release/api.json; the demo writes into the folder.
"""

import contextlib
import importlib
import importlib.util
import io
import json
import re
import subprocess
import sys
from pathlib import Path

EXTRA = re.compile(r" install .*\[[a-z,]+\]'$", re.MULTILINE)


def try_names(promised: Path) -> list[str]:
    """Import all promised names. Gives the messages of modules that need a package which is not installed."""
    absent: dict[str, str] = {}
    count = 0
    for name in json.loads(promised.read_text()):
        if name.startswith("$"):
            continue
        module = name
        while not is_module(module):
            module = module.rpartition(".")[0]
        if module in absent:
            continue
        try:
            found = importlib.import_module(module)
        except ModuleNotFoundError as error:
            if not EXTRA.search(str(error)):
                raise
            absent[module] = str(error)
            continue
        for part in name[len(module) + 1 :].split(".") if name != module else ():
            found = vars(found)[part] if part in vars(found) else getattr(found, part)
        count += 1
    print(f"{count} names")
    return list(absent.values())


def is_module(name: str) -> bool:
    """Whether it is the name of a module, which may lack a package."""
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:
        return False


def try_example(readme: Path) -> None:
    """Run the first example; its comments say what it prints."""
    example = re.findall(r"```python\n(.*?)```", readme.read_text(), re.DOTALL)[0]
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(compile(example, "the example of the README", "exec"), {})
    assert printed.getvalue().startswith("5\n"), printed.getvalue()
    print("the example of the README")


def try_command(arguments: list[str], extra: str = "") -> None:
    """Run the command; if it needs an extra, its message must say so."""
    command = Path(sys.executable).with_name("gaussian-neurons")
    done = subprocess.run([command, *arguments], capture_output=True, text=True)
    shown = " ".join(["gaussian-neurons", *arguments])
    if extra:
        assert done.returncode == 1, done
        assert EXTRA.search(done.stderr), done.stderr
        assert f"[{extra}]" in done.stderr, done.stderr
        print(f"{shown}: {done.stderr.strip()}")
    else:
        assert done.returncode == 0, done.stderr
        print(f"{shown}\n{done.stdout.strip()}")


def main(clone: Path, folder: Path, demo: bool) -> None:
    """Try everything; an error ends the program."""
    import gaussian_neurons

    place = Path(gaussian_neurons.__file__)
    assert place.is_relative_to(sys.prefix), f"{place} is not the installed library"
    print(f"gaussian-neurons {gaussian_neurons.__version__} on Python {sys.version.split()[0]}")
    for message in try_names(clone / "release" / "api.json"):
        print(message)
    try_example(clone / "README.md")
    if demo:
        try_command(["demo", "--out", str(folder)])
    else:
        try_command(["demo"], extra="cli")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), "--demo" in sys.argv[3:])
