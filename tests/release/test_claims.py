"""The numbers of the README are those of the results on file, and another number is noticed."""

import json
from pathlib import Path

import pytest

from release import claims

ROOT = Path(__file__).parents[2]


@pytest.fixture
def project(tmp_path):
    """A README with three numbers, and results that support them."""
    runs = [
        {"system": "ours", "set": "fcps/hepta", "score": 1.0},
        {"system": "ours", "set": "fcps/hepta", "score": 0.5},
        {"system": "ours", "set": "sipu/a1", "score": None},  # failed
        {"system": "ours", "set": "sipu/jain", "score": 0.9},  # of another shape
        {"system": "ours", "set": "sklearn/iris", "score": 0.1},  # real data
        {"system": "other", "set": "fcps/hepta", "score": 0.2},
    ]
    turns = [
        {"system": "ours-float32", "workload": "mnist-5x5", "samples": 3_000_000, "seconds": seconds}
        for seconds in (1, 1.5, 3)
    ]
    folder = tmp_path / claims.RESULTS
    folder.mkdir(parents=True)
    (folder / "quality.json").write_text(json.dumps({"runs": runs}))
    (folder / "peers.json").write_text(json.dumps({"turns": turns}))
    (tmp_path / "README.md").write_text(
        "The index is *about\n0.37*, and seven of sixteen neurons have learned."
    )
    return tmp_path


def test_results_by_hand(project):
    assert claims.mean_index(project, "ours", shaped=False) == pytest.approx((0.75 + 0) / 2)
    assert claims.mean_index(project, "ours", shaped=True) == 0.9
    assert claims.count_of_sets(project, shaped=False) == 2
    assert claims.count_of_sets(project, shaped=True) == 1
    assert claims.million_samples(project) == 2


def index(text, tolerance):
    return claims.Claim(text, lambda root: claims.mean_index(root, "ours", False), tolerance)


@pytest.mark.parametrize(
    ("claim", "says"),
    [
        (index(r"about (\d\.\d+)", 0.01), ""),
        (index(r"about (\d\.\d+)", 0.001), "README.md says 'about 0.37', but the results say 0.375"),
        (index(r"nearly (\d\.\d+)", 0.01), "no text like"),
    ],
)
def test_a_number_that_the_results_do_not_support_is_named(project, claim, says):
    lines = list(claims.wrong(project, (claim,)))
    assert len(lines) == bool(says)
    assert says in "".join(lines)


@pytest.mark.parametrize(("learned", "wrong"), [(7, 0), (6, 1), (70, 1)])
def test_the_number_of_the_demo_is_compared(project, learned, wrong):
    assert len(list(claims.wrong_of_demo(project, learned))) == wrong


def test_every_claim_can_fail(tmp_path):
    (tmp_path / "benchmarks").symlink_to(ROOT / "benchmarks")
    readme = (ROOT / "README.md").read_text()
    (tmp_path / "README.md").write_text("".join("9" if sign.isdecimal() else sign for sign in readme))
    failed = list(claims.wrong(tmp_path))
    assert len(failed) >= len(claims.CLAIMS) - 1  # but for a text that has a digit of its own
