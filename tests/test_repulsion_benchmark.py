"""What the benchmark of repulsion makes of filters: who is whose partner, and what it says of r."""

from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("psutil")

from benchmarks import repulsion_cells as cells
from benchmarks import repulsion_page as page
from benchmarks import repulsion_picture
from benchmarks.repulsion import EVERY, SETTINGS, Match, Results, Run, Speed, about, match, run
from gaussian_neurons.datasets import ImageSet

BLACK, WHITE, GREY = np.zeros(4), np.ones(4), np.full(4, 0.55)


class Silent:
    def say(self, what):
        pass


def test_filters_are_paired_whatever_their_order():
    found = match(np.array([BLACK, WHITE]), np.array([WHITE - 0.08, BLACK + 0.02]))
    assert (found.filters, found.pairs, found.matched) == (2, 2, 2)
    assert found.mean == pytest.approx(0.05)  # root mean square in a pixel, 0.02 and 0.08
    assert found.largest == pytest.approx(0.08)
    assert found.cosine == pytest.approx(1)


def test_two_filters_do_not_share_a_partner():
    found = match(np.array([BLACK, BLACK + 0.05]), np.array([BLACK + 0.02, WHITE]))
    assert (found.pairs, found.matched) == (2, 1)
    assert found.largest == pytest.approx(0.95)


def test_a_filter_that_is_lost_has_no_partner():
    found = match(np.array([BLACK, GREY, WHITE]), np.array([WHITE, BLACK]))
    assert (found.filters, found.pairs, found.matched, found.largest) == (3, 2, 2, 0.0)
    more = match(np.array([WHITE]), np.array([BLACK, WHITE, GREY]))
    assert (more.filters, more.pairs, more.matched) == (1, 1, 1)


def test_where_nothing_was_learned_nothing_is_matched():
    assert match(np.array([BLACK, WHITE]), np.zeros((0, 4))) == Match(2, 0, 0, None, None, None)


def test_the_cosine_is_seen_from_the_middle_of_the_domain():
    half = np.array([0.0, 0.0, 1.0, 1.0])
    assert match(np.array([half]), np.array([1 - half])).cosine == pytest.approx(-1)


def results_of(*apart, learned=None):
    """Two exact models 0.05 apart, and one for each r: so far apart, with so many filters of four."""
    learned = learned or [4] * len(apart)
    runs = [Run("2a", 0, 1, False, None, 4, 0, 1.5, Match(4, 4, 4, 0.0, 0.0, 1.0))]
    runs.append(Run("2a", 0, 1, True, None, 4, 0, 1.5, Match(4, 4, 4, 0.05, 0.09, 0.99)))
    for every, mean, count in zip(EVERY[1:], apart, learned, strict=True):
        if mean is None:
            runs.append(Run("2a", 0, every, False, "not finite"))
        else:
            found = Match(4, count, min(count, 4), mean, mean, 0.99)
            runs.append(Run("2a", 0, every, False, None, count, 4 - count, 1.5, found))
    speeds = [Speed("2a", every, 1 / every, 1.0) for every in EVERY for _ in range(3)]
    facts = {"what": "2a", "K": 16, "D": 25, "width": 1.0, "inhibition": 0.5, "learning_rate": 0.1}
    return Results("a machine", {"2a": facts | {"data": "some", "samples": 1000}}, runs, speeds)


def test_near_is_what_another_stream_changes_more():
    results = results_of(0.01, 0.02, 0.05, 0.06, 0.01, 0.01)
    assert cells.near_up_to(results, "2a") == 8  # later ones do not count
    assert cells.whole_up_to(results, "2a") == 64
    assert cells.cell(results, "2a", 4).to(cells.yardstick(results, "2a")) == pytest.approx(0.4)
    text = " ".join(page.section(results).split())
    assert "up to r = 64 on every setting; that is 64.0 times as fast for K = 16." in text
    assert "no farther from the exact ones than those of another stream up to 8 for 2a." in text
    assert "Numbers stopped being finite in no run." in text


def test_how_many_filters_exact_models_learn_is_told_by_both_streams():
    """A second stream that happened to find more makes no r look poor."""
    results = results_of(*[0.01] * 6)
    results.runs[1] = replace(results.runs[1], learned=6)
    assert cells.yardstick(results, "2a").filters == cells.Mean(5.0, 1.0)  # 4 and 6
    assert cells.whole_up_to(results, "2a") == 64


def test_where_even_the_smallest_r_differs_more_than_another_stream_it_is_told_by_how_much():
    text = " ".join(page.section(results_of(*[0.06] * 6)).split())
    assert "For 2a not even r = 2 is: of 100 exact filters it finds 0 ± 0 fewer" in text


def test_lost_filters_and_runs_that_failed_are_told():
    results = results_of(0.01, 0.01, 0.01, 0.01, 0.02, None, learned=[4, 4, 3, 3, 2, 0])
    assert cells.near_up_to(results, "2a") == cells.whole_up_to(results, "2a") == 4
    text = " ".join(page.section(results).split())
    assert "from 8 on for 2a (1.0 neurons on the place of another, 0.0 at r = 1)" in text
    assert "Numbers stopped being finite in 1 run." in text
    assert "fewer filters in 1 of 1" in page.terminal(results)
    assert cells.cell(results, "2a", 64).distance is None


def test_results_come_back_from_their_file_and_can_be_drawn(tmp_path):
    results = results_of(0.01, 0.01, 0.01, 0.01, 0.02, None)
    results.write(tmp_path / "results.json")
    assert Results.read(tmp_path / "results.json") == results
    page.write(results, tmp_path / "docs")
    assert (tmp_path / "docs" / "repulsion.md").read_text().startswith("## Repulsion at every r-th sample\n")
    assert (tmp_path / "docs" / "repulsion.png").read_bytes().startswith(b"\x89PNG")
    assert len(repulsion_picture.draw(results).axes) == 3


def test_a_small_run_has_an_exact_model_a_yardstick_and_one_for_each_r():
    pixels = np.random.default_rng(0).integers(0, 256, (10, 12, 12), np.uint8)
    images = ImageSet(pixels, np.zeros(10, np.uint8), "noise", "nowhere")
    runs = list(run(SETTINGS["2a"], images, 0, 2000, Silent()))
    assert [(it.every, it.another_stream) for it in runs[:3]] == [(1, False), (1, True), (2, False)]
    assert [it.every for it in runs[2:]] == list(EVERY[1:])
    assert runs[0].match.mean in (0.0, None)
    assert about(SETTINGS["2a"], images, 2000)["D"] == 25
