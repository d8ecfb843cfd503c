"""The speed of learning with and without a page that shows it.

    python -m benchmarks.live [--turns N] [--seconds S] [--json FILE]
    python -m benchmarks.live --pictures FOLDER     # screenshots for docs/live.md
    python -m benchmarks.live --tour FILE           # an animated picture of the tour
    python -m benchmarks.live --removals            # how often a removed filter of Figure 2a is learned again

A server runs in a separate process, on data that needs no download. In turns, a headless Chromium, which
draws without a graphics card, shows one of the paper's figures for some seconds, and then this process learns
the same with `GaussianNeurons.learn`. The results are medians over the turns. Browser, server, sampling and
learning share the cores.
"""

import argparse
import io
import json
import os
import shutil
import statistics
import subprocess
import sys
import time
from contextlib import contextmanager
from copy import deepcopy
from pathlib import Path

import numpy as np
from PIL import Image

from benchmarks.speed import processor
from gaussian_neurons.experiments import figure2a, figure4, figure5d, similarity
from gaussian_neurons.experiments.layer import LayerConfig
from gaussian_neurons.live.sources import Sources

SETTLED = 1_000_000  # samples after which filters are learned
FILM, MAX_FILM = 20_000, 3_000_000  # ms and bytes of the animated picture of the tour
TARGET = 0.9  # ratio of the speeds with and without a page
FIGURES: dict[str, tuple[LayerConfig, str]] = {
    "figure2a": (figure2a.Config(), "mnist-sample"),
    "figure5d": (figure5d.Config(), "mnist-sample"),
    "figure4": (figure4.Config(), "photographs"),
}


def without_page(layer: LayerConfig, data, seconds: float) -> float:
    """Samples per second without a page."""
    model, stream = layer.neurons(0), layer.stream(data, 0)
    model.learn(stream, 20_000, progress=False)
    begin, done, portion = time.perf_counter(), 0, 20_000
    while time.perf_counter() - begin < seconds:
        before = time.perf_counter()
        model.learn(stream, portion, progress=False)
        done += portion
        if time.perf_counter() - before < seconds / 4:  # long calls, because each call has its own cost
            portion *= 2
    return done / (time.perf_counter() - begin)


def with_page(tab, name: str, seconds: float) -> float:
    """Samples per second with a page."""
    tab.keyboard.press("Escape")  # leaves the tour
    tab.evaluate("name => gaussianNeurons.send({ do: 'preset', name })", name)
    tab.evaluate("gaussianNeurons.send({ do: 'resume' })")
    while tab.evaluate("gaussianNeurons.scene?.preset") != name:
        time.sleep(0.05)
    time.sleep(1.0)
    seen = "[gaussianNeurons.frame.seen, performance.now()]"
    first, begin = tab.evaluate(seen)
    time.sleep(seconds)
    last, end = tab.evaluate(seen)
    return (last - first) / (end - begin) * 1000


def measure(turns: int, seconds: float) -> dict:
    """Both speeds of each figure, in turns."""
    sources = Sources()
    found: dict = {name: {"with": [], "without": []} for name in FIGURES}
    with page() as (tab, url):
        for turn in range(turns):
            for name, (layer, data) in FIGURES.items():
                print(f"turn {turn + 1} of {turns}: {name}", file=sys.stderr)
                tab.goto(url)
                tab.locator("#gallery [data-preset]").first.wait_for(state="attached")
                found[name]["with"].append(with_page(tab, name, seconds))
                tab.goto("about:blank")
                time.sleep(0.5)
                found[name]["without"].append(without_page(layer, sources.load(data, 0), seconds))
    return found


def removals(seeds: int) -> None:
    """Remove each learned filter of Figure 2a, and test whether another neuron learns its pattern."""
    sources, layer = Sources(), figure2a.Config()
    found: list[tuple[int, list[bool]]] = []  # rank by share, learned again after each million samples
    for seed in range(seeds):
        model = layer.neurons(seed)
        model.learn(layer.stream(sources.load("mnist-sample", seed), seed), SETTLED, progress=False)
        learned = np.flatnonzero(model.learned_)
        order = learned[np.argsort(-model.diagnosis_.share[learned], kind="stable")]
        for rank, neuron in enumerate(order):
            print(f"seed {seed}, filter {rank + 1} of {len(order)}", file=sys.stderr)
            other, center = deepcopy(model), model.centers_[neuron]
            other.remove_neurons([neuron])
            stream = layer.stream(sources.load("mnist-sample", seed), seed).seek(SETTLED)
            there = []
            for _ in range(2):
                other.learn(stream, 1_000_000, progress=False)
                there.append(bool(similarity.same(other.centers_[other.learned_], center).any()))
            found.append((rank, there))
    print(f"{len(found)} filters of {seeds} seeds, each removed after {SETTLED:,} samples\n")
    print("| filter, by its share | learned again after a million samples | after two |")
    print("| --- | --- | --- |")
    for name, ranks in (
        ("all", range(99)),
        ("largest", range(1)),
        ("second", range(1, 2)),
        ("others", range(2, 99)),
    ):
        chosen = [there for rank, there in found if rank in ranks]
        cells = (f"{sum(one[k] for one in chosen)} of {len(chosen)}" for k in (0, 1))
        print(f"| {name} | {' | '.join(cells)} |")


def draw(folder: Path) -> None:
    """Screenshots of the page in both modes."""
    folder.mkdir(parents=True, exist_ok=True)
    with page() as (tab, url):
        tab.goto(url)
        tab.locator("#gallery [data-preset]").first.wait_for(state="attached")
        with_page(tab, "figure2a", 1.0)
        share = "(({ids, share}) => ids[share.indexOf(Math.max(...share))])(gaussianNeurons.frame)"
        tab.locator(f".filter[data-neuron='{tab.evaluate(share)}']").click()
        tab.locator("#story text", has_text="learned").wait_for()
        tab.locator(".filter[data-learned='1']").nth(2).hover()
        time.sleep(1.0)
        tab.screenshot(path=folder / "filters.png")
        tab.evaluate("gaussianNeurons.send({ do: 'start', setup: { data: 'mixture' } })")
        tab.locator("#plane").wait_for()
        tab.locator("#surface").select_option("recent")
        time.sleep(5.0)
        tab.locator("#plane").focus()
        tab.keyboard.press("]")
        tab.keyboard.press("]")
        tab.evaluate("document.activeElement.blur()")
        time.sleep(1.0)
        tab.screenshot(path=folder / "plane.png")


def film(path: Path) -> None:
    """An animated picture of the tour, played faster than it is."""
    pictures = []
    with page({"width": 1200, "height": 750}) as (tab, url):
        tab.goto(f"{url}?tour")
        last = "[data-tour=count]:text-is('10 of 10')"
        while not tab.locator(last).count() or len(pictures) % 12:
            shot = Image.open(io.BytesIO(tab.screenshot(type="jpeg", quality=90)))
            pictures.append(shot.resize((960, 600), Image.Resampling.LANCZOS))
            time.sleep(0.1)
    path.parent.mkdir(parents=True, exist_ok=True)
    options = {"duration": FILM // len(pictures), "loop": 0, "method": 4}
    for quality in (55, 45, 35, 25):
        pictures[0].save(path, save_all=True, append_images=pictures[1:], quality=quality, **options)
        if path.stat().st_size < MAX_FILM:
            break
    print(f"{path}: {len(pictures)} pictures, {path.stat().st_size / 1e6:.1f} MB")


@contextmanager
def page(size=None):
    """A tab of Chromium, and the URL of a running server."""
    from playwright.sync_api import sync_playwright

    server, url = start()
    try:
        with sync_playwright() as engine:
            own = engine.chromium.executable_path
            path = next(filter(None, map(shutil.which, (own, "chromium", "google-chrome"))))
            browser = engine.chromium.launch(executable_path=path, args=["--no-sandbox"])
            yield browser.new_page(viewport=size or {"width": 1440, "height": 900}), url
            browser.close()
    finally:
        server.terminate()
        server.wait()


def start() -> tuple[subprocess.Popen, str]:
    """A server that finds no published data, and its URL."""
    command = [sys.executable, "-u", "-m", "gaussian_neurons", "live", "--no-browser", "--port", "0"]
    environment = {**os.environ, "GAUSSIAN_NEURONS_DATA": "", "XDG_CACHE_HOME": os.devnull}
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
    assert server.stdout is not None
    for line in server.stdout:
        if "http://" in line:
            return server, "http://" + line.split("http://")[1].strip()
    raise SystemExit("The server did not start: see the messages above.")


def main() -> None:
    """Measure and print."""
    kind = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=kind)
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=3.0)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--pictures", type=Path, metavar="FOLDER")
    parser.add_argument("--tour", type=Path, metavar="FILE")
    parser.add_argument("--removals", action="store_true")
    options = parser.parse_args()
    if options.removals:
        removals(10)
        return
    if options.tour:
        film(options.tour)
        return
    if options.pictures:
        draw(options.pictures)
        return
    found = measure(options.turns, options.seconds)
    print(f"{processor()}\n")
    print("| figure | million samples per second, with page | without | ratio | target |")
    print("| --- | --- | --- | --- | --- |")
    for name, both in found.items():
        shown, hidden = (statistics.median(both[kind]) for kind in ("with", "without"))
        ratio = statistics.median(w / a for w, a in zip(both["with"], both["without"], strict=True))
        verdict = "reached" if ratio >= TARGET else f"short of {TARGET}"
        print(f"| {name} | {shown / 1e6:.3f} | {hidden / 1e6:.3f} | {ratio:.2f} | {verdict} |")
    if options.json:
        options.json.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
