"""The group of experiments beyond the paper: selection, folders, packages, data, the report."""

from dataclasses import dataclass, replace

import numpy as np
import pytest
from matplotlib.figure import Figure

from gaussian_neurons.base import extras
from gaussian_neurons.cli.reproducing import _out, _runnable
from gaussian_neurons.datasets import ImageSet
from gaussian_neurons.experiments import data, figure1, reproduction, results
from gaussian_neurons.experiments.catalogue import EXPERIMENTS, select
from gaussian_neurons.experiments.experiment import Claim, Experiment, Quantity
from gaussian_neurons.experiments.report import document, page
from gaussian_neurons.experiments.report.origin import origin
from gaussian_neurons.experiments.report.summary import Summary


@dataclass(frozen=True)
class Config:
    sides: int = 6


def run(config, seed, lab):
    lab.record(1, 0.001)
    return {"thrown": int(np.random.default_rng(seed).integers(1, config.sides + 1))}


def draw(result):
    figure = Figure()
    figure.subplots().bar([0], [result["thrown"]])
    return figure


DIE = Experiment(
    name="die",
    title="a die",
    config=Config(),
    run=run,
    draw=draw,
    data=None,
    seconds=1,
    samples=1,
    prints="an example",
    published={},
    seeds=3,
    beyond=True,
    quantities=(Quantity("thrown", lambda result: result["thrown"]),),
    claims=(Claim("A die has at most six.", lambda result: [result["thrown"] <= 6]),),
)


@pytest.fixture
def with_die(monkeypatch):
    """The catalogue with one experiment more; its code is found where that of Figure 1 is."""
    monkeypatch.setitem(EXPERIMENTS, "die", DIE)
    monkeypatch.setattr(reproduction.provenance, "fingerprint", lambda *_: "0" * 64)
    monkeypatch.setattr(reproduction.provenance, "uses_backend", lambda _: False)


def test_the_groups_do_not_overlap(with_die):
    paper, beyond = ({it.name for it in select([name])} for name in ("all", "beyond"))
    assert "die" in beyond
    assert not paper & beyond
    assert paper | beyond == set(EXPERIMENTS)
    assert select([]) == select(["all"])
    assert [it.name for it in select(["figure1", "die"])] == ["figure1", "die"]


def test_the_group_has_a_folder_of_its_own():
    assert str(_out(None, 0.5, "sample", "auto", beyond=True)) == "beyond-sample-scale-0.5"
    assert str(_out(None, 1, "full", "auto")) == "reproduction"


def test_experiments_that_need_an_absent_package_are_skipped(capsys):
    from rich.console import Console

    lacking = replace(DIE, name="lacking", needs={"no_such_package": "torch"})
    assert _runnable([DIE, lacking], Console(width=200)) == [DIE]
    needs = f"lacking needs no_such_package: {extras.install('torch')}"
    assert needs in capsys.readouterr().out
    with pytest.raises(ModuleNotFoundError, match="lacking needs no_such_package"):
        _runnable([lacking], Console())


def test_results_without_images_have_seeds_and_a_report(with_die, tmp_path):
    plan = reproduction.Plan([DIE], None, tmp_path, jobs=1)
    assert [run.seed for run in plan.runs()] == [0, 1, 2]
    assert reproduction.reproduce(plan, reproduction.Listener()) == []
    found = reproduction.current_results(plan)
    thrown = [result["thrown"] for result in found["die"].values()]
    assert thrown == [run(Config(), seed, _Clock())["thrown"] for seed in range(3)]
    assert results.stored_seeds(DIE, tmp_path) == [0, 1, 2]
    summaries = [Summary(EXPERIMENTS[name], by_seed) for name, by_seed in found.items() if name == "die"]
    source = origin(summaries, data.FULL, 1.0)
    html = page.page(summaries, source, tmp_path)
    text = document.text(summaries, source, "beyond")
    assert "Gaussian Neurons, beyond the paper" in html
    assert text.startswith("# Beyond the paper")
    for shown in (html, text):
        assert "A die has at most six." in shown
        assert "holds in 3 of 3 seeds" in shown
        assert "Eidheim" not in shown


class _Clock:
    def record(self, samples, seconds):
        pass


def test_a_report_of_both_groups_is_about_the_paper(with_die):
    both = [Summary(figure1.EXPERIMENT, {None: {"seed": None}}), Summary(DIE, {0: {"seed": 0}})]
    assert page._scope(both) == f"1 of the {len(select(['all']))} figures, tables and claims"
    assert "die" not in page._not_run(both[:1])
    assert "figure1" not in page._not_run(both[1:])


# ---- images with a test part ----------------------------------------------------------------------


def test_a_published_set_ends_with_its_test_part(monkeypatch):
    def load(split, *, directory=None, download=True):
        value = {"train": 1, "test": 2}[split]
        images = np.full((3 * value, 4, 4), value, np.uint8)
        return ImageSet(images, images[:, 0, 0], f"Small {split}", "a test")

    both = data._published(load)(directory=None, download=False)
    assert (len(both.images), both.n_test, both.name) == (9, 6, "Small train and test")
    known, tests = data.parts(both)
    assert (known.images == 1).all()
    assert (tests.images == 2).all()
    assert (known.images.shape, tests.images.shape) == ((3, 4, 4, 1), (6, 4, 4, 1))
    assert (len(known.labels), len(tests.labels)) == (3, 6)


def test_a_sample_is_shuffled_in_one_way():
    images = np.arange(50, dtype=np.uint8)[:, None, None] * np.ones((1, 4, 4), np.uint8)
    first, again = (data._sample(ImageSet(images, images[:, 0, 0], "Small", "a test")) for _ in range(2))
    assert first.sha256 == again.sha256
    assert (first.images[:, 0, 0] == first.labels).all()
    known, tests = data.parts(first)
    assert len(tests.images) == 10
    assert sorted([*known.labels, *tests.labels]) == list(range(50))
    assert first.labels.tolist() != list(range(50))


def test_photographs_are_cut_into_windows():
    images = np.zeros((2, 64, 70, 3), np.uint8)
    images[1] = 7
    images[0, 32:, 32:64] = 5
    cut = data._windows(ImageSet(images, np.array([0, 1], np.uint8), "photographs", "a test"))
    assert cut.images.shape == (8, 32, 32, 3)
    assert cut.labels.tolist() == [0] * 4 + [1] * 4
    assert [int(it.min()) for it in cut.images] == [0, 0, 0, 5, 7, 7, 7, 7]
    assert (cut.images[3] == 5).all()
