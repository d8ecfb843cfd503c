"""Speed of learning while a page shows it, beside the same learning without a page.

    python -m benchmarks.live [--turns N] [--seconds S] [--json FILE]
    python -m benchmarks.live --pictures FOLDER     # of the page, for docs/live.md
    python -m benchmarks.live --removals            # how often a removed filter of Figure 2a is learned again

A server runs in a process of its own, on data that needs no download. Turn by turn, a real Chromium
(headless: it draws without a graphics card) watches one of the paper's figures for some seconds, and then
nobody does, while this process learns the same with `GaussianNeurons.learn`. A figure is the median over the
turns. Where there are two cores, browser, server, sampler and core share them.
"""

import argparse
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

from benchmarks.speed import processor
from gaussian_neurons.experiments import figure2a, figure4, figure5d, similarity
from gaussian_neurons.experiments.layer import LayerConfig
from gaussian_neurons.live.sources import Sources

SETTLED = 1_000_000  # samples after which filters stand
LEAST = 0.7  # of the speed without a page
FIGURES: dict[str, tuple[LayerConfig, str]] = {
    "figure2a": (figure2a.Config(), "mnist-sample"),
    "figure5d": (figure5d.Config(), "mnist-sample"),
    "figure4": (figure4.Config(), "photographs"),
}


def alone(layer: LayerConfig, data, seconds: float) -> float:
    """Samples a second without a page."""
    model, stream = layer.neurons(0), layer.stream(data, 0)
    model.learn(stream, 20_000, progress=False)
    begin, done, portion = time.perf_counter(), 0, 20_000
    while time.perf_counter() - begin < seconds:
        before = time.perf_counter()
        model.learn(stream, portion, progress=False)
        done += portion
        if time.perf_counter() - before < seconds / 4:  # few calls, each of which begins anew
            portion *= 2
    return done / (time.perf_counter() - begin)


def watched(tab, name: str, seconds: float) -> float:
    """Samples a second while a page shows them."""
    tab.locator("#preset").select_option(name)
    while tab.evaluate("gaussianNeurons.scene?.preset") != name:
        time.sleep(0.05)
    time.sleep(1.0)
    seen = "[gaussianNeurons.frame.seen, performance.now()]"
    first, begin = tab.evaluate(seen)
    time.sleep(seconds)
    last, end = tab.evaluate(seen)
    return (last - first) / (end - begin) * 1000


def measure(turns: int, seconds: float) -> dict:
    """Both, turn by turn, for each figure."""
    sources = Sources()
    found: dict = {name: {"watched": [], "alone": []} for name in FIGURES}
    with page() as (tab, url):
        for turn in range(turns):
            for name, (layer, data) in FIGURES.items():
                print(f"turn {turn + 1} of {turns}: {name}", file=sys.stderr)
                tab.goto(url)
                tab.locator("#preset option[data-preset]").first.wait_for(state="attached")
                found[name]["watched"].append(watched(tab, name, seconds))
                tab.goto("about:blank")
                time.sleep(0.5)
                found[name]["alone"].append(alone(layer, sources.load(data, 0), seconds))
    return found


def removals(seeds: int) -> None:
    """Each learned filter of Figure 2a, removed from where all of them stand: who finds its pattern again."""
    sources, layer = Sources(), figure2a.Config()
    found: list[
        tuple[int, list[bool]]
    ] = []  # rank by share, and after each million whether it is there again
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
    print("| filter, by its share | after a million samples | after two |")
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
    """The page in both modes, as a picture each."""
    folder.mkdir(parents=True, exist_ok=True)
    with page() as (tab, url):
        tab.goto(url)
        tab.locator("#preset option[data-preset]").first.wait_for(state="attached")
        watched(tab, "figure2a", 1.0)
        share = "(({ids, share}) => ids[share.indexOf(Math.max(...share))])(gaussianNeurons.frame)"
        tab.locator(f".filter[data-neuron='{tab.evaluate(share)}']").click()
        tab.locator("#toasts").get_by_text("has learned what").wait_for()
        tab.locator(".filter[data-learned='1']").nth(2).hover()
        time.sleep(1.0)
        tab.screenshot(path=folder / "filters.png")
        tab.locator("#data").select_option("mixture")
        tab.locator("#plane").wait_for()
        tab.locator("#surface").select_option("recent")
        time.sleep(5.0)
        tab.locator("#plane").focus()
        tab.keyboard.press("]")
        tab.keyboard.press("]")
        tab.evaluate("document.activeElement.blur()")
        time.sleep(1.0)
        tab.screenshot(path=folder / "plane.png")


@contextmanager
def page():
    """A tab of a real browser, and the address of a server that runs meanwhile."""
    from playwright.sync_api import sync_playwright

    server, url = start()
    try:
        with sync_playwright() as engine:
            own = engine.chromium.executable_path
            path = next(filter(None, map(shutil.which, (own, "chromium", "google-chrome"))))
            browser = engine.chromium.launch(executable_path=path, args=["--no-sandbox"])
            yield browser.new_page(viewport={"width": 1440, "height": 900}), url
            browser.close()
    finally:
        server.terminate()
        server.wait()


def start() -> tuple[subprocess.Popen, str]:
    """A server, and its address. What published data there is it shall not find."""
    command = [sys.executable, "-u", "-m", "gaussian_neurons", "live", "--no-browser", "--port", "0"]
    nowhere = {**os.environ, "GAUSSIAN_NEURONS_DATA": "", "XDG_CACHE_HOME": os.devnull}
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=nowhere)
    assert server.stdout is not None
    for line in server.stdout:
        if "http://" in line:
            return server, "http://" + line.split("http://")[1].strip()
    raise SystemExit("the server did not start")


def main() -> None:
    """Measure, print, and keep."""
    kind = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=kind)
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=3.0)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--pictures", type=Path, metavar="FOLDER")
    parser.add_argument("--removals", action="store_true")
    options = parser.parse_args()
    if options.removals:
        removals(10)
        return
    if options.pictures:
        draw(options.pictures)
        return
    found = measure(options.turns, options.seconds)
    print(f"{processor()}\n")
    print("| figure | million a second, watched | without a page | ratio | |")
    print("| --- | --- | --- | --- | --- |")
    for name, both in found.items():
        watched_, alone_ = (statistics.median(both[kind]) for kind in ("watched", "alone"))
        ratio = statistics.median(w / a for w, a in zip(both["watched"], both["alone"], strict=True))
        verdict = f"at least {LEAST}" if ratio >= LEAST else f"below {LEAST}"
        print(f"| {name} | {watched_ / 1e6:.3f} | {alone_ / 1e6:.3f} | {ratio:.2f} | {verdict} |")
    if options.json:
        options.json.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
