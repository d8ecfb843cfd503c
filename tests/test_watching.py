"""Views of a model: the pictures by hand, and that watching changes nothing in what is learned."""

import base64
import copy
import gc
import pickle
import re
import struct
import sys
import types
import warnings
import weakref
import zlib
from xml.etree import ElementTree

import numpy as np
import pytest
from sklearn.base import clone

from gaussian_neurons import GaussianNeurons, plotting
from gaussian_neurons.datasets.synthetic import Mixture
from gaussian_neurons.views import notebook as watching
from gaussian_neurons.views import svg
from gaussian_neurons.views.notebook import View
from gaussian_neurons.views.svg import Scene, guessed_shape, picture
from tests.runs import same

SVG = "{http://www.w3.org/2000/svg}"
FIXED = {"width": 0.05, "domain": (0, 1), "random_state": 0}


def scene(centers, learned, **more) -> Scene:
    centers = np.asarray(centers, float)
    box = {"low": np.zeros(centers.shape[1]), "high": np.ones(centers.shape[1])}
    about = {"widths": np.full(len(centers), 0.04), "samples": centers[:0], "seen": 1234, "clusters": 1}
    return Scene(centers, learned=np.array(learned), **(about | box | more))


def pixels(text: str) -> np.ndarray:
    """The image in a picture, (height, width, 4), decoded by hand."""
    data = base64.b64decode(re.search(r"data:image/png;base64,([^\"]+)", text)[1])
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    at, parts = 8, {}
    while at < len(data):
        (length,), name = struct.unpack_from(">I", data, at), data[at + 4 : at + 8]
        parts[name] = data[at + 8 : at + 8 + length]
        assert struct.unpack_from(">I", data, at + 8 + length)[0] == zlib.crc32(name + parts[name])
        at += 12 + length
    assert list(parts) == [b"IHDR", b"IDAT", b"IEND"]
    width, height, depth, kind = struct.unpack_from(">IIBB", parts[b"IHDR"])
    assert (depth, kind) == (8, 6)
    lines = np.frombuffer(zlib.decompress(parts[b"IDAT"]), np.uint8).reshape(height, 1 + 4 * width)
    assert not lines[:, 0].any()
    return lines[:, 1:].reshape(height, width, 4)


class Shots(list):
    """What a notebook would have shown: pairs (HTML, words)."""

    def __call__(self, html: str, text: str) -> None:
        ElementTree.fromstring(html)
        self.append((html, text))

    @property
    def words(self) -> list[str]:
        return [text for _, text in self]


class Clock:
    """Time that passes when it is told to."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(watching, "monotonic", clock)
    return clock


@pytest.fixture(autouse=True)
def _every_view_is_closed():
    yield
    for view in list(watching._open):
        view._end()


def rows(n: int, seed: int = 0, columns: int = 2) -> np.ndarray:
    random = np.random.default_rng(seed)
    return 0.25 + 0.5 * random.integers(2, size=(n, columns)) + 0.03 * random.standard_normal((n, columns))


# ---- pictures ---------------------------------------------------------------------------------------


def test_a_patch_by_hand():
    text = picture(scene([[0.0, 1.0, -0.5, 1.5], [0.5, -0.25, 9.0, 1.0]], [True, False]), (2, 2))
    found = pixels(text)  # two patches side by side, and one pixel in between: 10 of the screen's at 28 each
    assert found.shape == (2, 5, 4)
    np.testing.assert_array_equal(found[:, :2, :3], [[[0] * 3, [255] * 3], [[59, 130, 246], [239, 68, 68]]])
    assert (found[:, :2, 3] == 255).all()
    assert (found[:, 2] == 0).all()
    np.testing.assert_array_equal(found[0, 3:, :3], [[128] * 3, [30, 65, 123]])  # half way to blue
    assert (found[:, 3:, 3] == 102).all()  # dimmed


def test_frames_and_numbers_of_patches():
    root = ElementTree.fromstring(picture(scene(np.full((3, 9), 0.5), [False, True, False])))
    frames = root.findall(f"{SVG}rect")
    assert [frame.get("stroke") for frame in frames] == [svg.PUSHED_OUT, svg.LEARNED, svg.PUSHED_OUT]
    assert float(frames[1].get("stroke-width")) > float(frames[0].get("stroke-width"))
    assert [text.text for text in root.findall(f"{SVG}text")] == [
        "1,234 samples seen · 1 of 3 learned",
        "0",
        "1",
        "2",
    ]
    (image,) = root.findall(f"{SVG}image")
    inside = [float(image.get(name)) for name in ("x", "y")]
    assert inside == [float(frames[0].get(name)) for name in ("x", "y")]
    assert image.get("style") == "image-rendering:pixelated"
    assert root.get("fill") == "currentColor"  # dark where the page is light, and light where it is dark


def test_colours_are_clipped_to_the_domain():
    found = pixels(picture(scene([[-1.0, 0.2, 2.0]], [True])))
    np.testing.assert_array_equal(found, [[[0, 51, 255, 255]]])


def test_grey_is_the_domain_of_the_data():
    digits = scene([[0.0, 8.0, 16.0, 4.0]], [True], low=np.zeros(4), high=np.array([1.0, 16.0, 16.0, 2.0]))
    np.testing.assert_array_equal(pixels(picture(digits))[..., 0], [[0, 128], [255, 64]])  # one for a patch
    of_rows = scene([[5.0, 0.0, 3.0]], [True], low=np.array([0, -1, 3.0]), high=np.array([10, 1, 3.0]))
    found = pixels(picture(of_rows, (3,)))
    np.testing.assert_array_equal(found[0, :, 0], [128, 128, 0])  # one for each column of a table


def test_rows_of_cells_stand_below_each_other():
    found = pixels(picture(scene(np.eye(2, 7), [True, True])))
    assert found.shape == (9, 7, 4)  # four lines each, and one between them
    np.testing.assert_array_equal(found[:, 0, 3], [255] * 4 + [0] + [255] * 4)
    np.testing.assert_array_equal(found[0, :, 0], [255, 0, 0, 0, 0, 0, 0])
    np.testing.assert_array_equal(found[8, :, 0], [0, 255, 0, 0, 0, 0, 0])


def test_the_plane_by_hand():
    # the unit square and 0.15 of it on each side: 460 / 1.3 pixels a unit, sqrt(0.04) = 0.2
    root = ElementTree.fromstring(
        picture(scene([[0.5, 0.5], [9.0, 9.0]], [True, False], samples=np.array([[0.0, 1.0], [0.2, 0.2]])))
    )
    (circle,) = root.findall(f"{SVG}ellipse")
    unit = 460 / 1.3
    assert float(circle.get("rx")) == float(circle.get("ry")) == pytest.approx(0.2 * unit, abs=0.06)
    assert float(circle.get("cx")) == pytest.approx(1 + 230, abs=0.06)
    assert float(circle.get("cy")) == pytest.approx(32 + 230, abs=0.06)
    dots, cross = root.findall(f"{SVG}path")
    places = re.findall(r"M([\d.]+) ([\d.]+)h0", dots.get("d"))
    np.testing.assert_allclose(
        np.array(places, float)[0], [1 + 0.15 * unit, 32 + 0.15 * unit], atol=0.06
    )  # up is up
    assert cross.get("stroke") == svg.PUSHED_OUT
    assert [text.text for text in root.findall(f"{SVG}text")][1:] == ["1", "0"]


def test_a_plane_of_unequal_columns_is_not_a_line():
    root = ElementTree.fromstring(
        picture(scene([[0.5, 500.0]], [True], low=np.zeros(2), high=np.array([1.0, 1000.0])))
    )
    assert float(root.get("height")) > 200
    assert float(root.get("width")) > 400


@pytest.mark.parametrize(
    ("dimensions", "shape"),
    [
        (1, (1, 1)),
        (9, (3, 3)),
        (12, (2, 2, 3)),
        (27, (3, 3, 3)),
        (784, (28, 28)),
        (3072, (32, 32, 3)),
        (5, (5,)),
    ],
)
def test_the_shape_that_is_guessed(dimensions, shape):
    assert guessed_shape(dimensions) == shape


@pytest.mark.parametrize("dimensions", [1, 2, 3, 7, 25, 75, 1000, 40_000])
@pytest.mark.parametrize("count", [1, 5, 401])
def test_whatever_the_numbers_a_picture_is_a_picture(dimensions, count):
    random = np.random.default_rng(0)
    if dimensions * count > 10**6:
        count = 5
    centers = random.normal(scale=3, size=(count, dimensions))
    root = ElementTree.fromstring(picture(scene(centers, random.random(count) < 0.5)))
    assert 0 < float(root.get("width")) <= 800
    drawn = [text for text in root.findall(f"{SVG}text") if text.text.isdigit()]
    assert len(drawn) == min(count, 400)


def test_before_the_first_samples_a_line_says_so():
    assert ElementTree.fromstring(picture(None)).find(f"{SVG}text").text == "waiting for the first samples"


def test_clusters_are_counted_where_neurons_share_them():
    assert scene([[0.0]] * 3, [True] * 3).words == "1,234 samples seen · 3 of 3 learned · 1 cluster"


def test_colours_are_those_of_the_other_pictures():
    for name in ("LEARNED", "PUSHED_OUT", "MUTED", "BELOW", "ABOVE", "BEYOND"):
        assert getattr(svg, name) == getattr(plotting, name)
    values = np.linspace(-1, 2, 301)
    ramp = plotting._colours()((values + plotting.BEYOND) / (1 + 2 * plotting.BEYOND), bytes=True)[:, :3]
    assert np.abs(svg.painted(values).astype(int) - ramp).max() <= 4  # matplotlib has 256 steps


# ---- views ------------------------------------------------------------------------------------------


LEARN = {
    "partial_fit": lambda model: model.partial_fit(rows(60_000)),
    "pieces": lambda model: [model.partial_fit(piece) for piece in np.split(rows(6000), 20)],
    "fit": lambda model: model.fit(rows(500)),
    "learn": lambda model: model.learn(Mixture(8, seed=1), 50_000, progress=False),
    "change": lambda model: (
        model.partial_fit(rows(1500)).add_neurons(1).move_neurons(0, width=0.1).remove_neurons(2)
    ),
}


@pytest.mark.parametrize("how", LEARN)
@pytest.mark.parametrize("parameters", [FIXED, {"random_state": 0, "max_samples": 6000}])
def test_the_same_bits_are_learned_with_and_without_a_view(how, parameters, monkeypatch):
    watched, alone, shots = GaussianNeurons(8, **parameters), GaussianNeurons(8, **parameters), Shots()
    monkeypatch.setattr(watching, "BYTES_A_SECOND", np.inf)
    with View(watched, None, 0.0, shots):
        LEARN[how](watched)
    LEARN[how](alone)
    assert len(shots) > 2
    assert same(watched, alone)
    np.testing.assert_array_equal(watched.learned_, alone.learned_)
    np.testing.assert_array_equal(watched.neuron_clusters_, alone.neuron_clusters_)
    learned = f"{alone.learned_.sum()} of {len(alone.centers_)} learned"
    assert shots.words[-1].startswith(f"{alone.n_samples_seen_:,} samples seen · {learned}")


def test_a_view_is_drawn_at_most_every_so_often(clock):
    model, shots = GaussianNeurons(4, **FIXED), Shots()
    view = View(model, None, 0.5, shots)
    assert shots.words == ["waiting for the first samples"]
    model.partial_fit(rows(10))  # the first samples do not wait
    assert len(shots) == 2
    for _ in range(17):
        clock.now += 0.125
        model.partial_fit(rows(10))
    assert [words.split()[0] for words in shots.words[2:]] == ["50", "90", "130", "170"]
    clock.now += 0.125
    model.partial_fit(rows(10))
    assert len(shots) == 6
    view.catch_up()  # as at the end of a cell
    assert shots.words[-1].startswith("190 samples seen")
    view.catch_up()
    assert len(shots) == 7  # nothing new


def test_a_call_that_takes_long_is_seen_while_it_runs_and_at_its_end(clock, monkeypatch):
    model, shots = GaussianNeurons(16, **FIXED), Shots()
    view = View(model, None, 0.0, shots)
    monkeypatch.setattr(watching, "BYTES_A_SECOND", np.inf)
    model.learn(Mixture(8, seed=1), 100_000, progress=False)
    assert len(shots) > 4
    seen = [int(words.split()[0].replace(",", "")) for words in shots.words[1:]]
    assert seen == sorted(seen)
    assert seen[-1] == 100_000
    del shots[:]
    clock.now += 1e9
    view._next = np.inf  # not before the end
    model.learn(Mixture(8, seed=1), 50_000, progress=False)
    assert [words.split()[0] for words in shots.words] == ["150,000"]


def test_a_picture_that_takes_long_leaves_time_to_learn(clock):
    def slow(html, text):
        clock.now += 2.0

    view = View(GaussianNeurons(4, **FIXED).partial_fit(rows(10)), None, 0.1, slow)
    assert view._next == clock.now + 8.0


def test_a_heavy_picture_comes_less_often(clock):
    shots = Shots()
    view = View(GaussianNeurons(9, **FIXED).partial_fit(rows(10, columns=1600)), None, 0.0, shots)
    assert view._next == pytest.approx(clock.now + len(shots[0][0]) / 500_000)


def test_an_interrupt_leaves_the_picture_of_what_was_learned(clock):
    def stop(model, t):
        raise KeyboardInterrupt

    model, shots = GaussianNeurons(4, **FIXED), Shots()
    View(model, None, 1e9, shots)
    with pytest.raises(KeyboardInterrupt):
        model.learn(Mixture(8, seed=1), 50_000, progress=False, every=20_000, callback=stop)
    assert shots.words[-1].startswith("20,000 samples seen")


@pytest.mark.parametrize("how", LEARN)
def test_an_error_in_drawing_ends_the_view_and_nothing_else(how, monkeypatch):
    def broken(html, text):
        if "waiting" not in text:
            raise OSError("no more paper")

    model, alone, other = GaussianNeurons(8, **FIXED), GaussianNeurons(8, **FIXED), Shots()
    view, second = View(model, None, 0.0, broken), View(model, None, 0.0, other)
    with pytest.warns(RuntimeWarning, match=r"drawing failed \(OSError: no more paper\)") as told:
        LEARN[how](model)
    assert len(told) == 1
    assert told[0].filename == __file__
    assert view.closed
    assert not second.closed
    assert len(other) >= 2
    LEARN[how](alone)
    np.testing.assert_array_equal(model.centers_, alone.centers_)
    assert model.n_samples_seen_ == alone.n_samples_seen_


def test_where_warnings_are_errors_everything_is_learned_before():
    model = GaussianNeurons(8, **FIXED)
    View(model, (5, 5), 0.0, Shots())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(RuntimeWarning, match=r"a shape of \(5, 5\) has 25 cells, but the model has 2"):
            model.partial_fit(rows(60_000))
    assert model.n_samples_seen_ == 60_000


def test_what_fails_to_learn_fails_as_before_and_the_view_shows_what_is_there(clock):
    model, shots = GaussianNeurons(8, **FIXED).partial_fit(rows(5000)), Shots()
    View(model, None, 0.0, shots)
    bad = rows(60_000)
    bad[-1] = np.nan
    with pytest.raises(ValueError, match="row 59999"):
        model.partial_fit(bad)
    assert model.n_samples_seen_ == 5000
    assert shots.words[-1].startswith("5,000 samples seen")
    alone = GaussianNeurons(8, **FIXED).partial_fit(rows(5000))
    np.testing.assert_array_equal(
        model.partial_fit(rows(9000, 1)).centers_, alone.partial_fit(rows(9000, 1)).centers_
    )


def test_copies_and_files_are_not_watched(clock, tmp_path):
    model, shots = GaussianNeurons(4, **FIXED).partial_fit(rows(2000)), Shots()
    before = set(vars(model))
    View(model, None, 0.0, shots)
    assert set(vars(model)) == before
    model.save(tmp_path / "model")
    others = [copy.copy(model), copy.deepcopy(model), pickle.loads(pickle.dumps(model)), clone(model)]
    for other in [*others, GaussianNeurons.load(tmp_path / "model")]:
        other.partial_fit(rows(100))
    assert len(shots) == 1
    clock.now += 1.0
    model.partial_fit(rows(100))
    assert len(shots) == 2


def test_a_closed_view_has_shown_the_last_of_it(clock):
    model, shots, more = GaussianNeurons(4, **FIXED).partial_fit(rows(10)), Shots(), Shots()
    with View(model, None, 1.0, shots) as view, View(model, (2,), 1.0, more):
        model.partial_fit(rows(10))
        assert len(shots) == len(more) == 1
    assert shots.words[-1] == more.words[-1]
    assert shots.words[-1].startswith("20 samples seen")
    assert len(shots) == len(more) == 2
    clock.now += 10
    model.partial_fit(rows(10))
    view.close()
    assert len(shots) == 2
    assert "closed view" in repr(view)


def test_a_view_that_cannot_catch_up_is_closed_with_a_word(clock):
    def broken(html, text):
        if not text.startswith("10 "):
            raise OSError("no more paper")

    for end in (View.close, View.catch_up):
        model = GaussianNeurons(4, **FIXED).partial_fit(rows(10))
        view, ended = View(model, None, 1.0, broken), []
        view.at_end = lambda ended=ended: ended.append(True)
        model.partial_fit(rows(10))  # too soon to be drawn
        with pytest.warns(RuntimeWarning, match="no more paper"):
            end(view)
        assert view.closed
        assert ended == [True]
        end(view)  # says nothing more


def test_of_many_views_of_a_model_the_newest_stay(pretend):
    pretend(Shell())
    model, other = GaussianNeurons(4, **FIXED), GaussianNeurons(4, **FIXED)
    views = [other.watch()] + [model.watch() for _ in range(5)]
    assert [view.closed for view in views] == [False, True, True, False, False, False]


def test_a_view_does_not_keep_a_model_alive():
    model = GaussianNeurons(4, **FIXED).partial_fit(rows(10))
    gone = weakref.ref(model)
    view = View(model, None, 0.1, Shots())
    del model
    gc.collect()
    assert gone() is None
    assert view.closed
    view.close()


def test_only_the_given_model_has_a_view():
    model, other = GaussianNeurons(4, **FIXED), GaussianNeurons(4, **FIXED)
    view = View(other, None, 0.1, Shots())
    assert watching.views_of(model) == []
    assert watching.views_of(other) == [view]


@pytest.mark.parametrize("shape", [5, (), (0, 5), (5, 5, 4), (1, 2, 3, 4), "55", (2.5, 2)])
def test_a_shape_that_is_none_is_said(shape):
    with pytest.raises(
        ValueError, match=r"shape must be \(height, width\), \(height, width, 3\) for colours"
    ):
        View(GaussianNeurons(), shape, 0.1, Shots())


def test_what_does_not_fit_is_said_at_once():
    model = GaussianNeurons(4, **FIXED).partial_fit(rows(10))
    with pytest.raises(ValueError, match=r"a shape of \(5, 5\) has 25 cells, but the model has 2 columns"):
        View(model, (5, 5), 0.1, Shots())
    with pytest.raises(ValueError, match="every must be finite and at least 0"):
        View(model, None, -1.0, Shots())
    assert not watching._open


# ---- notebooks --------------------------------------------------------------------------------------


class Shell:
    """As much of IPython's as a view needs."""

    def __init__(self) -> None:
        self.callbacks: list = []
        self.events = self

    def register(self, event, callback):
        assert event == "post_run_cell"
        self.callbacks.append(callback)

    def unregister(self, event, callback):
        self.callbacks.remove(callback)


class TerminalInteractiveShell(Shell):
    pass


@pytest.fixture
def pretend(monkeypatch):
    """Pretend that IPython is there, with some shell; gives what it is told to display."""

    def with_shell(shell):
        told: list = []
        module, display = types.ModuleType("IPython"), types.ModuleType("IPython.display")
        module.get_ipython = lambda: shell
        display.display = lambda data, **about: told.append(("display", data, about))
        display.update_display = lambda data, **about: told.append(("update", data, about))
        monkeypatch.setitem(sys.modules, "IPython", module)
        monkeypatch.setitem(sys.modules, "IPython.display", display)
        return told

    return with_shell


def test_in_a_notebook_one_output_is_shown_anew(pretend, clock):
    shell = Shell()
    told = pretend(shell)
    model = GaussianNeurons(4, **FIXED)
    view = model.watch(every=1.0)
    model.partial_fit(rows(10))
    model.partial_fit(rows(10))  # too soon
    assert [kind for kind, *_ in told] == ["display", "update"]
    for callback in list(shell.callbacks):
        callback("the cell has ended")
    assert [kind for kind, *_ in told] == ["display", "update", "update"]
    assert len({about["display_id"] for *_, about in told}) == 1
    assert told[-1][1]["text/plain"].startswith("20 samples seen")
    assert told[-1][1]["text/html"].startswith("<svg")
    view.close()
    assert shell.callbacks == []
    model.partial_fit(rows(10))
    assert len(told) == 3


@pytest.mark.parametrize("shell", [None, TerminalInteractiveShell()])
def test_a_terminal_is_no_notebook(pretend, shell):
    pretend(shell)
    with pytest.raises(
        RuntimeError, match=r"in a Jupyter notebook, and this is not one.*gaussian-neurons live"
    ):
        GaussianNeurons().watch()


def test_without_ipython_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "IPython", None)
    with pytest.raises(ModuleNotFoundError, match=r"pip install jupyterlab.*gaussian-neurons live"):
        GaussianNeurons().watch()


def test_in_a_shell_of_ipython():
    shells = pytest.importorskip("IPython.core.interactiveshell")
    capture = pytest.importorskip("IPython.utils.capture")
    shell = shells.InteractiveShell.instance()
    try:
        with capture.capture_output() as captured:
            shell.run_cell("from gaussian_neurons import GaussianNeurons; import numpy as np")
            shell.run_cell("model = GaussianNeurons(4, width=0.1, domain=(0, 1)); model.watch()")
            shell.run_cell("for _ in range(50): model.partial_fit(np.random.rand(9, 25))")
        first, *others = captured.outputs
        assert not first.update
        assert others
        assert all(output.update and output.transient == first.transient for output in others)
        assert others[-1].data["text/plain"] == "450 samples seen · 0 of 4 learned"
    finally:
        shells.InteractiveShell.clear_instance()
