"""Everything that is checked before a release: `make release-check`.

python -m release                          # all checks; it takes a quarter of an hour and more
python -m release --only versions claims   # some of them
"""

import argparse
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from release import api, claims, versions, wheels

ROOT = Path(__file__).parents[1]


def _committed() -> list[str]:
    done = subprocess.run(["git", "status", "--porcelain"], cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        return [f"git status failed: {done.stderr.strip()}"]
    return [f"not committed: {line[3:]}" for line in done.stdout.splitlines()]


def _versions() -> list[str]:
    found = versions.versions(ROOT)
    changelog, citation = ((ROOT / name).read_text() for name in ("CHANGELOG.md", "CITATION.cff"))
    described = versions.problems(changelog, citation, found["pyproject.toml"])
    return [*versions.disagreements(found), *described]


def _claims() -> list[str]:
    return list(claims.wrong(ROOT))


def _api() -> list[str]:
    return list(api.broken(api.promised(), api.api()))


def _wheels() -> list[str]:
    found, learned = wheels.make([sys.executable])
    return [*found, *claims.wrong_of_demo(ROOT, learned)]


def _make(target: str) -> Callable[[], list[str]]:
    def made() -> list[str]:
        if not re.search(rf"^{target}:", (ROOT / "Makefile").read_text(), re.MULTILINE):
            return [f"the Makefile has no target {target}"]
        done = subprocess.run(["make", "--no-print-directory", target], cwd=ROOT)
        return [f"make {target} failed"] if done.returncode else []

    return made


CHECKS: dict[str, Callable[[], list[str]]] = {
    "committed": _committed,
    "versions": _versions,
    "claims": _claims,
    "api": _api,
    "lint": _make("lint"),
    "docs": _make("docs"),
    "wheels": _wheels,
    "test": _make("test"),
}


def main() -> int:
    """Run the checks, and list what is wrong at the end."""
    parser = argparse.ArgumentParser("python -m release", description=__doc__)
    parser.add_argument("--only", nargs="+", metavar="CHECK", choices=list(CHECKS), default=list(CHECKS))
    found: dict[str, list[str]] = {}
    for name in parser.parse_args().only:
        print(f"---- {name}", flush=True)
        try:
            found[name] = CHECKS[name]()
        except (OSError, ValueError, subprocess.CalledProcessError) as error:
            found[name] = [str(error)]
    print()
    for name, lines in found.items():
        print(f"{name:10} {'FAILED' if lines else 'passed'}")
        for line in lines:
            print(f"           {line}")
    return int(any(found.values()))


if __name__ == "__main__":
    sys.exit(main())
