"""What is told about the speed beside other libraries: counts, pictures, the document, the comparison."""

import sys
from dataclasses import replace
from types import SimpleNamespace

import pytest

pytest.importorskip("psutil")
pytest.importorskip("matplotlib")

from benchmarks.peers import compare, document, picture, roofline
from benchmarks.peers.kernels import points
from benchmarks.peers.results import OURS, Kernel, Memory, Results, Spread
from benchmarks.peers.words import exactly, number, table
from benchmarks.quality.progress import Progress
from benchmarks.speed import Counts, budget, counts
from tests.performances import made_up, without

SOME = ["ours-float32", "ours-one", "river-dbstream", "sklearn-birch", "faiss-kmeans", "rule-numba"]
FEW = ["mnist-5x5", "rows-D2-K16", "rows-D2-K64"]


# ---- counting and measuring ------------------------------------------------------------------------


def test_what_the_equations_need_is_counted_by_hand():
    # one pair: 3 to measure it, 6 to move both; two neurons: 3 each to measure the sample, 3 each to move.
    # In vectors of 4: two rows of pairs, 4 lanes each; two sums over 4 lanes; three passes over 4 lanes.
    assert counts(2, 3, False, lanes=4, group=8) == Counts(9 + 12, 8 * 3 + 8 * 3 + 12 * 3, 8 + 4)


def test_squares_of_pairs_are_whole():
    # nine neurons in groups of eight: rows 0 to 7 meet 8 lanes, row 8 meets 16
    assert counts(9, 1, False, lanes=8, group=8) == Counts(36 * 3 + 18, 80 + 9 * 16 + 3 * 16, 80 + 16)
    assert counts(9, 1, True, lanes=8, group=8) == Counts(36 * 3 + 27, 80 + 144 + 64, 160 + 144 + 48)


def test_the_parts_of_a_samples_time_are_what_is_counted():
    core = {"multiply_adds": 1e-9, "exponentials": 1e-9, "lanes": 4, "group": 8}  # one a second
    parts = budget(2, 3, False, core, measured=120.0)
    assert parts == pytest.approx(
        {"useful": 21 / 120, "padding": 63 / 120, "exponentials": 0.1, "waiting": 0.2}
    )


def test_numbers_that_must_move():
    assert roofline.moving_numbers(3, 5) == 15 + 15 + 3 + 3  # centers come and go, and so do three pairs


def test_the_core_is_measured_beside_its_roofs(capfd):
    found = roofline.measure(2, Progress(1), shapes=[(3, 2, True)])
    assert {kernel.precision for kernel in found} == {"float32", "float64"}
    assert sorted({kernel.repetition for kernel in found}) == [0, 1]
    for kernel in found:
        assert (kernel.K, kernel.D, kernel.needed, kernel.numbers) == (3, 2, 3 * 3 * 2 + 2 * 3 * 2, 12 + 6)
        assert kernel.done >= kernel.needed
        assert min(kernel.seconds, kernel.peak, kernel.bandwidth) > 0
    assert capfd.readouterr().out == ""


def test_a_point_is_worked_out_by_hand():
    facts = {"needed": 30.0, "done": 40.0, "numbers": 25.0, "peak": 100.0, "bandwidth": 1000.0}
    turns = [
        Kernel(2, 3, "float32", "some", k, seconds, **facts) for k, seconds in enumerate((0.5, 0.4, 0.8))
    ]
    [point] = points(turns)
    assert point.share.middle == pytest.approx(0.6)  # 30 of the 50 that half a second would do
    assert (point.padding, point.memory, point.rest) == pytest.approx((0.2, 0.2, 0.2))
    assert point.intensity == pytest.approx(60 / 100)  # two operations each, for four bytes each
    assert point.gigaflops == pytest.approx(0.6 * 200e-9)
    assert point.layer == 2 * 2 * (3 + 2) * 4


# ---- pictures --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "results",
    [
        made_up(SOME, FEW),
        made_up(SOME, ["mnist-5x5"], repetitions=1),
        made_up(["sklearn-birch"], FEW),
        made_up(SOME, ["cifar10-5x5x3"], kernels=False),
        without(made_up(SOME, ["mnist-5x5", "mnist-13x13"]), workloads=["mnist-5x5"]),
    ],
    ids=["some", "one of each", "not ours", "without the core", "nothing on the first"],
)
def test_pictures_are_drawn_of_what_there_is(results, tmp_path):
    drawn = [getattr(picture, name)(results) for name in document.PICTURES]
    assert drawn[0] is not None
    assert (drawn[1] is None) == (not any(key.startswith("rows-") for key in results.workloads))
    assert (drawn[2] is None) == (not results.kernels)
    for figure in drawn:
        if figure is not None:
            figure.savefig(tmp_path / "any.png", dpi=20)


def test_nothing_is_drawn_of_nothing():
    assert [getattr(picture, name)(Results({})) for name in document.PICTURES] == [None] * 3


def test_a_bar_tells_samples_a_second():
    figure = picture.throughput(made_up(["ours-float32"], ["mnist-5x5"], noise=0.0))
    words = [text.get_text() for text in figure.axes[0].texts]
    assert words == ["2.44 M"]  # 0.05 µs + 400 · 0.1 ns + 6400 · 0.05 ns = 0.41 µs


def test_labels_are_pushed_apart_and_no_further():
    assert picture.apart([0.5, 0.1, 0.9], 0.2) == [0.5, 0.1, 0.9]
    assert picture.apart([0.5, 0.5], 0.2) == pytest.approx([0.4, 0.6])
    assert picture.apart([0.55, 0.5, 0.6], 0.1) == pytest.approx([0.55, 0.45, 0.65])


# ---- the document ----------------------------------------------------------------------------------


@pytest.fixture
def told_elsewhere(monkeypatch):
    """Stand-ins for what tells the claims and the growth."""
    claims = [
        SimpleNamespace(text="Faster than a|b", figure="17 times", holds=True),
        SimpleNamespace(text="Smaller than any", figure="9 MiB", holds=False),
        SimpleNamespace(text="Older than all", figure="", holds=None),
    ]
    growth = {OURS: {"N": 1.0, "D": 0.987, "K": None}, "sklearn-birch": dict.fromkeys("NDK")}
    monkeypatch.setattr(document, "claims", lambda results: claims)
    monkeypatch.setattr(document, "slopes", lambda results: growth)


def row(text, name):
    """The cells of the first row that begins with a name."""
    line = next(line for line in text.splitlines() if line.startswith(f"| {name} |"))
    return [cell.strip() for cell in line.strip("|").split(" | ")]


@pytest.mark.usefixtures("told_elsewhere")
def test_the_document_tells_what_was_measured(tmp_path):
    results = made_up(SOME, [*FEW, "rows-D784-K1024"], noise=0.0)
    document.write(results, tmp_path)
    text = (tmp_path / "performance.md").read_text()
    for name in document.PICTURES:
        assert f"(performance/{name}.png)" in text
        assert (tmp_path / "performance" / f"{name}.png").stat().st_size > 1000
    assert "| Faster than a\\|b | 17 times | yes |" in text
    assert "| Smaller than any | 9 MiB | **no** |" in text
    assert "| Older than all |  | not measured |" in text
    ours, birch = row(text, "**Gaussian neurons, float32**"), row(text, "Birch")
    assert ours[3:] == ["2,440,000", "0.410", "1.00", "0.203", "2.00"]
    assert birch[3:6] == ["34,200", "29.2", "71.2"]  # 28 µs + 400 · 3 ns
    assert "| **Gaussian neurons, float32** | 1.00 | 0.99 | – |" in text
    assert "| river DBSTREAM | refused |" in text
    assert "- river DBSTREAM, on rows-D784-K1024: a sample takes over 60 ms" in text
    assert "`a\\|b, key='sklearn-birch'`" in text


@pytest.mark.usefixtures("told_elsewhere")
def test_every_row_of_the_document_has_the_cells_of_its_head(tmp_path):
    document.write(made_up(SOME, FEW), tmp_path)
    lines = (tmp_path / "performance.md").read_text().replace("\\|", "").splitlines()
    cells = [line.count("|") for line in lines]
    for k in range(1, len(lines)):
        if cells[k] and cells[k - 1]:
            assert cells[k] == cells[k - 1], lines[k]


@pytest.mark.usefixtures("told_elsewhere")
@pytest.mark.parametrize(
    "results",
    [
        Results({}),
        made_up(["sklearn-birch"], FEW, repetitions=1, kernels=False),
        replace(made_up(SOME, ["mnist-5x5"]), memory=[], firsts=[], imports=[], machine={}),
    ],
    ids=["nothing", "not ours", "times alone"],
)
def test_the_document_leaves_out_what_is_missing(results, tmp_path):
    old = tmp_path / "performance" / "roofline.png"
    old.parent.mkdir()
    old.write_text("of another run")
    document.write(results, tmp_path)
    text = (tmp_path / "performance.md").read_text()
    assert ("## Imports" in text) == bool(results.imports)
    assert ("## Samples a second" in text) == bool(results.turns)
    assert ("roofline.png" in text) == bool(results.kernels) == old.exists()
    assert "None" not in text
    assert "nan" not in text


@pytest.mark.usefixtures("told_elsewhere")
def test_what_others_wrote_is_appended_as_it_is(tmp_path):
    (tmp_path / "performance").mkdir()
    (tmp_path / "performance" / "repulsion.md").write_text("## Repulsion\n\n| as it *is*\n")
    document.write(made_up(["ours-float32"], ["mnist-5x5"], kernels=False), tmp_path)
    assert (tmp_path / "performance.md").read_text().endswith("\n\n## Repulsion\n\n| as it *is*\n")


def test_what_limits_is_what_takes_longest():
    facts = {"needed": 10.0, "done": 20.0, "numbers": 25.0, "peak": 100.0}
    [waits] = points([Kernel(2, 3, "float32", "some", 0, 1.0, **facts, bandwidth=1000.0)])
    assert "first exponentials, waiting" in document.limit(waits)
    assert "(80% of the time)" in document.limit(waits)
    [reads] = points([Kernel(2, 3, "float32", "some", 0, 1.0, **facts, bandwidth=101.0)])
    assert document.limit(reads).endswith("But memory alone would take 99%: it is what limits.")


def test_words():
    assert [number(value) for value in (None, 0, 0.0126, 0.99999, 999.6, 1234567)] == [
        "–", "0", "0.0126", "1.00", "1,000", "1,230,000",
    ]  # fmt: skip
    assert exactly("a `b`") == "`` a `b` ``"
    assert table(["x"], [["1 | 2\n3"]]) == "| x |\n| --- |\n| 1 \\| 2 3 |\n"


# ---- two results -----------------------------------------------------------------------------------


@pytest.fixture
def compared(tmp_path, monkeypatch, capsys):
    """The command on two results: its status, and what it printed."""

    def run(a, b, *options):
        for name, results in (("a.json", a), ("b.json", b)):
            if isinstance(results, Results):
                results.write(tmp_path / name)
            elif results is not None:
                (tmp_path / name).write_text(results)
        files = [str(tmp_path / "a.json"), str(tmp_path / "b.json")]
        monkeypatch.setattr(sys, "argv", ["compare", *files, *options])
        with pytest.raises(SystemExit) as end:
            compare.main()
        out, err = capsys.readouterr()
        return end.value.code, out + err

    return run


def lines(told, word):
    return [line for line in told.splitlines() if line.endswith(word)]


def test_the_same_twice_is_no_regression(compared):
    status, told = compared(made_up(SOME, FEW), made_up(SOME, FEW))
    assert status == 0
    assert "No regression" in told
    assert not lines(told, "REGRESSION")


def test_ours_slower_is_a_regression(compared):
    status, told = compared(made_up(SOME, FEW), made_up(SOME, FEW, slower={"ours-one": 1.5}, seed=1))
    assert status == 1
    assert len(lines(told, "REGRESSION")) == len(FEW)
    assert "ours-one" in told.splitlines()[4]  # the worst first, under the head
    assert f"Regression: {len(FEW)} of" in told
    assert "most of all ours-one on" in told


def test_ours_faster_is_none(compared):
    status, told = compared(made_up(SOME, FEW), made_up(SOME, FEW, slower={"ours-one": 0.5}))
    assert status == 0
    assert len(lines(told, "better")) == len(FEW)


def test_a_peer_slower_is_none_of_ours(compared):
    status, told = compared(made_up(SOME, FEW), made_up(SOME, FEW, slower={"sklearn-birch": 3.0}))
    assert status == 0
    assert len(lines(told, "worse")) == len(FEW)


def test_a_slower_machine_is_divided_out(compared):
    status, told = compared(made_up(SOME, FEW), made_up(SOME, FEW, slower=dict.fromkeys(SOME, 1.6)))
    assert status == 0
    assert "the machine took 1.600 times as long" in told


def test_a_faster_machine_hides_nothing(compared):
    faster = dict.fromkeys(SOME, 0.5) | {"ours-float32": 0.9}
    status, told = compared(made_up(SOME, FEW), made_up(SOME, FEW, slower=faster))
    assert status == 1
    assert len(lines(told, "REGRESSION")) == len(FEW)


def test_a_peer_of_another_version_tells_nothing_about_the_machine(compared):
    before, after = (
        made_up(["ours-float32", "sklearn-birch"], FEW, slower=s) for s in ({}, {"sklearn-birch": 4})
    )
    after.systems["sklearn-birch"] = replace(after.systems["sklearn-birch"], version="2.0")
    status, told = compared(before, after)
    assert status == 0
    assert "the machine's speed is not divided out" in told


def test_noise_is_no_regression(compared):
    noisy = [made_up(["ours-float32"], FEW, noise=0.6, seed=seed, kernels=False) for seed in (2, 3)]
    status, told = compared(*noisy)
    assert status == 0
    assert lines(told, "noise")
    halves = [Spread.of(results.microseconds(OURS, "mnist-5x5")) for results in noisy]
    assert max(half.low for half in halves) < min(half.high for half in halves)


def test_less_of_the_peak_is_a_regression(compared):
    before, after = made_up(SOME, FEW), made_up(SOME, FEW)
    after.kernels = [replace(it, seconds=it.seconds * (1.3 if it.K == 64 else 1)) for it in after.kernels]
    status, told = compared(before, after)
    assert status == 1
    assert all("K=64 D=16" in line for line in lines(told, "REGRESSION"))
    assert len(lines(told, "REGRESSION")) == 4  # two precisions, two instruction sets


def test_memory_and_imports_count_too(compared):
    before, after = made_up(SOME, FEW), made_up(SOME, FEW)
    after.memory = [
        Memory(it.system, it.workload, it.mebibytes + {"ours-float32": 0.5, "ours-one": 20}.get(it.system, 0))
        for it in after.memory
    ]
    status, told = compared(before, after)
    assert status == 1
    assert {line.split()[2] for line in lines(told, "REGRESSION")} == {"ours-one"}  # half a MiB is no news
    after = made_up(SOME, FEW)
    after.imports = [replace(it, seconds=it.seconds + (it.system == "ours-one")) for it in after.imports]
    status, told = compared(before, after)
    assert (status, len(lines(told, "REGRESSION"))) == (1, 1)


def test_the_tolerance_is_what_is_said(compared):
    files = made_up(SOME, FEW, noise=0.01), made_up(SOME, FEW, noise=0.01, slower={"ours-one": 1.3})
    assert compared(*files)[0] == 1
    assert compared(*files, "--tolerance", "0.4")[0] == 0


def test_only_some_are_shown_but_all_are_checked(compared):
    files = made_up(SOME, FEW), made_up(SOME, FEW, slower={"ours-one": 2})
    status, told = compared(*files, "--only", "peer")
    assert status == 1
    assert "sklearn-birch" in told
    assert not lines(told, "REGRESSION")
    status, told = compared(*files, "--only", "someone")
    assert status == 2
    assert "There are: ours, peer, rule, ours-float32" in told


def test_one_turn_is_said_to_be_little(compared):
    assert "one turn only" in compared(*[made_up(SOME, FEW, repetitions=1)] * 2)[1]


def test_nothing_in_common(compared):
    status, told = compared(
        made_up(SOME, ["mnist-5x5"], kernels=False), made_up(["sklearn-birch"], FEW, kernels=False)
    )
    assert status == 2
    assert "Nothing of ours is in both files" in told
    assert "sklearn-birch on mnist-5x5, rows-D2-K16, rows-D2-K64" in told
    assert "Run `make bench-peers` for both" in told


@pytest.mark.parametrize("text", ["{", "[]", '{"format": 7}', '{"format": 1}', None])
def test_a_broken_file_is_named(compared, text):
    status, told = compared(made_up(SOME, FEW), text)
    assert status == 2
    assert "b.json cannot be read" in told
    assert "`make bench-peers` wrote" in told


def test_what_of_ours_is_gone_is_told(compared):
    before, after = made_up(SOME, FEW), made_up(SOME, FEW)
    gone = ("ours-one", FEW[0])
    after.turns = [turn for turn in after.turns if (turn.system, turn.workload) != gone]
    status, told = compared(before, after)
    assert status == 1
    assert f"Gone: ours-one on {FEW[0]} is in A, not in B" in told


def test_a_tolerance_below_nothing_is_refused(compared):
    status, told = compared(made_up(SOME, FEW), made_up(SOME, FEW), "--tolerance", "-1")
    assert status == 2
    assert "--tolerance must be 0 or more, got -1.0" in told
