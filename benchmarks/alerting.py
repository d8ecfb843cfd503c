"""Run the commands of docs/alerting.md, write their outputs into the page, and draw its picture.

python -m benchmarks.alerting
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")

import numpy as np
from matplotlib import pyplot as plt

from gaussian_neurons import GaussianNeurons

PAGE = Path(__file__).parent.parent / "docs" / "alerting.md"
PICTURE = PAGE.with_suffix(".png")
ACTIVITIES = {"standing and walking": (0, 3640), "running": (3640, 5460), "badminton": (5460, 7280)}
EVENTS = {"born": "tab:green", "returned": "tab:olive", "moved": "0.6", "absent": "0.8", "retired": "0.8"}
COLOURS = plt.get_cmap("tab20").colors
MARK = "@@@ "


def commands(text: str) -> list[str]:
    """The blocks of shell commands of the page."""
    return re.findall(r"```sh\n(.*?)```", text, re.DOTALL)


def run(folder: Path, text: str) -> list[str]:
    """Run the commands of the page in one shell in a folder; returns the output of each block."""
    (program,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    (folder / "motions.py").write_text(program)
    blocks = [block for block in commands(text) if not block.startswith("pip install")]
    script = "set -m\n" + "".join(f"{block}\necho '{MARK}'\n" for block in blocks)
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-c", script],
        cwd=folder,
        env={**os.environ, "PATH": path, "COLUMNS": "100"},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,  # of the shell: which jobs were killed
        text=True,
        timeout=600,
        check=True,
    )
    printed = "".join(f"{line.rstrip()}\n" for line in done.stdout.splitlines())
    return ["", *printed.split(f"{MARK.strip()}\n")[:-1]]


def with_outputs(text: str, outputs: list[str]) -> str:
    """The page with the output of each block of commands in the block of text below it."""
    found = iter(outputs)

    def renewed(match: re.Match[str]) -> str:
        output = next(found)
        if match[2] is None:
            return match[0]
        return f"{match[1]}\n```text\n{output}```\n"

    return re.sub(r"(```sh\n.*?```\n)(\n```text\n.*?```\n)?", renewed, text, flags=re.DOTALL)


def alerts(folder: Path) -> list[dict[str, Any]]:
    """The alerts, each once."""
    lines = dict.fromkeys((folder / "alerts.jsonl").read_text().splitlines())
    return [json.loads(line) for line in lines]


def killed_at(outputs: list[str]) -> int:
    """How many rows the checkpoint held when the process was killed."""
    (number,) = re.findall(r"seen *([\d,]+)", "".join(outputs))
    return int(number.replace(",", ""))


def clusters_before(x: np.ndarray) -> np.ndarray:
    """The cluster of each row from the 1001st on, before it is learned, -1 for none."""
    model = GaussianNeurons(random_state=0).partial_fit(x[:1000])
    found = np.full(len(x), -1)
    for k in range(1000, len(x)):
        found[k] = model.predict(x[k : k + 1])[0]
        model.partial_fit(x[k : k + 1])
    return found


def draw(folder: Path, outputs: list[str]) -> None:
    """Sensors, clusters, alerts and the kill."""
    names = (folder / "sensors.csv").read_text().split("\n", 1)[0].split(",")
    x = np.loadtxt(folder / "sensors.csv", delimiter=",", skiprows=1)
    found, told = clusters_before(x), alerts(folder)
    figure, (sensors, strip, events) = plt.subplots(
        3, figsize=(10, 6), sharex=True, height_ratios=[3, 2, 1.6], layout="constrained"
    )
    for column, name in enumerate(names):
        sensors.plot(range(0, len(x), 5), x[::5, column], lw=0.5, label=name)
    sensors.set_ylabel("log of the deviation")
    sensors.legend(ncols=6, fontsize=7, loc="upper left")
    numbers = np.unique(found[found >= 0])
    for height, number in enumerate(numbers):
        rows = np.flatnonzero(found == number)
        strip.plot(rows, np.full(len(rows), height), "|", ms=6, color=COLOURS[number % len(COLOURS)])
    novel = [one["samples"] for one in told if one["kind"] == "novel"]
    strip.plot(novel, np.full(len(novel), -1), "|", ms=6, color="tab:red")
    step = len(numbers) // 10 + 1  # labels have to fit
    heights = range(0, len(numbers), step)
    strip.set_yticks([-1, *heights], ["novel", *map(str, numbers[::step])], fontsize=7)
    strip.set_ylabel("cluster")
    for name, (begin, end) in ACTIVITIES.items():
        events.axvspan(begin, end, color="0.97" if begin else "1", zorder=0)
        events.axvline(begin, color="0.8", lw=0.8)
        events.text((begin + end) / 2, len(EVENTS) + 0.1, name, ha="center", fontsize=8)
    for height, (kind, colour) in enumerate(reversed(EVENTS.items())):
        at = [one["samples"] for one in told if one["kind"] == kind]
        events.plot(at, np.full(len(at), height), "o", ms=5, color=colour)
    events.set_yticks(range(len(EVENTS)), reversed(EVENTS), fontsize=7)
    events.set_ylim(-0.7, len(EVENTS) + 0.9)
    events.set_xlabel("row")
    for axes in (sensors, strip, events):
        axes.axvline(killed_at(outputs), color="black", ls="--", lw=1)
    sensors.text(killed_at(outputs), sensors.get_ylim()[0], " kill -9", fontsize=8, va="bottom")
    figure.savefig(PICTURE, dpi=90)
    plt.close(figure)


def main() -> None:
    """Renew the page and its picture."""
    text = PAGE.read_text()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        outputs = run(folder, text)
        PAGE.write_text(with_outputs(text, outputs))
        draw(folder, outputs)
    print(PAGE, PICTURE, sep="\n")


if __name__ == "__main__":
    main()
