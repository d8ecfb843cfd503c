"""Views of a model: pictures computed by hand, updates, and that views do not change what is learned."""

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
from sklearn import config_context
from sklearn.base import clone

from gaussian_neurons import GaussianNeurons, plotting
from gaussian_neurons.datasets.synthetic import Mixture
from gaussian_neurons.model import model_file
from gaussian_neurons.views import notebook, svg
from gaussian_neurons.views.notebook import View
from gaussian_neurons.views.svg import Scene, guessed_shape, picture

SVG = "{http://www.w3.org/2000/svg}"
FIXED = {"width": 0.05, "domain": (0, 1), "random_state": 0}


def scene(centers, learned, **more) -> Scene:
    centers = np.asarray(centers, float)
    box = {"low": np.zeros(centers.shape[1]), "high": np.ones(centers.shape[1])}
    about = {"widths": np.full(len(centers), 0.04), "samples": centers[:0], "seen": 1234, "clusters": 1}
    return Scene(centers, learned=np.array(learned), **(about | box | more))


def pixels(text: str) -> np.ndarray:
    """The PNG image in a picture, (height, width, 4)."""
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


class Pictures(list):
    """The pictures that a notebook would show: pairs (HTML, text)."""

    def __call__(self, html: str, text: str) -> None:
        ElementTree.fromstring(html)
        self.append((html, text))

    @property
    def words(self) -> list[str]:
        return [text for _, text in self]


class Clock:
    """A clock that the test sets."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(notebook, "monotonic", clock)
    return clock


@pytest.fixture(autouse=True)
def _close_all_views():
    yield
    for view in list(notebook._open):
        view._end()


def rows(n: int, seed: int = 0, columns: int = 2) -> np.ndarray:
    random = np.random.default_rng(seed)
    return 0.25 + 0.5 * random.integers(2, size=(n, columns)) + 0.03 * random.standard_normal((n, columns))


# ---- pictures ---------------------------------------------------------------------------------------


def test_colours_of_patches():
    text = picture(scene([[0.0, 1.0, -0.5, 1.5], [0.5, -0.25, 9.0, 1.0]], [True, False]), (2, 2))
    found = pixels(text)  # two patches with one pixel between them, which is at least 10 of the screen
    assert found.shape == (2, 5, 4)
    np.testing.assert_array_equal(found[:, :2, :3], [[[0] * 3, [255] * 3], [[59, 130, 246], [239, 68, 68]]])
    assert (found[:, :2, 3] == 255).all()
    assert (found[:, 2] == 0).all()
    np.testing.assert_array_equal(found[0, 3:, :3], [[128] * 3, [30, 65, 123]])  # halfway to blue
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
    assert root.get("fill") == "currentColor"  # the text colour of the page


def test_colours_are_clipped_to_the_domain():
    found = pixels(picture(scene([[-1.0, 0.2, 2.0]], [True])))
    np.testing.assert_array_equal(found, [[[0, 51, 255, 255]]])


def test_grey_values_cover_the_domain():
    digits = scene([[0.0, 8.0, 16.0, 4.0]], [True], low=np.zeros(4), high=np.array([1.0, 16.0, 16.0, 2.0]))
    np.testing.assert_array_equal(pixels(picture(digits))[..., 0], [[0, 128], [255, 64]])  # one scale
    of_rows = scene([[5.0, 0.0, 3.0]], [True], low=np.array([0, -1, 3.0]), high=np.array([10, 1, 3.0]))
    found = pixels(picture(of_rows, (3,)))
    np.testing.assert_array_equal(found[0, :, 0], [128, 128, 0])  # one scale per column


def test_rows_of_cells():
    found = pixels(picture(scene(np.eye(2, 7), [True, True])))
    assert found.shape == (9, 7, 4)  # four lines each, with one between them
    np.testing.assert_array_equal(found[:, 0, 3], [255] * 4 + [0] + [255] * 4)
    np.testing.assert_array_equal(found[0, :, 0], [255, 0, 0, 0, 0, 0, 0])
    np.testing.assert_array_equal(found[8, :, 0], [0, 255, 0, 0, 0, 0, 0])


def test_positions_in_the_plane():
    # the unit square with margins of 0.15: 460 / 1.3 pixels per unit, sqrt(0.04) = 0.2
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
    )  # y points up
    assert cross.get("stroke") == svg.PUSHED_OUT
    assert [text.text for text in root.findall(f"{SVG}text")][1:] == ["1", "0"]


def test_a_plane_with_columns_of_different_scale():
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
def test_guessed_shapes(dimensions, shape):
    assert guessed_shape(dimensions) == shape


@pytest.mark.parametrize("dimensions", [1, 2, 3, 7, 25, 75, 1000, 40_000])
@pytest.mark.parametrize("count", [1, 5, 401])
def test_pictures_of_any_size_are_valid(dimensions, count):
    random = np.random.default_rng(0)
    if dimensions * count > 10**6:
        count = 5
    centers = random.normal(scale=3, size=(count, dimensions))
    root = ElementTree.fromstring(picture(scene(centers, random.random(count) < 0.5)))
    assert 0 < float(root.get("width")) <= 800
    drawn = [text for text in root.findall(f"{SVG}text") if text.text.isdigit()]
    assert len(drawn) == min(count, 400)


def test_the_picture_before_the_first_samples():
    assert ElementTree.fromstring(picture(None)).find(f"{SVG}text").text == "waiting for the first samples"


def test_clusters_are_counted_if_neurons_share_them():
    assert scene([[0.0]] * 3, [True] * 3).words == "1,234 samples seen · 3 of 3 learned · 1 cluster"


def test_colours_are_the_same_as_in_plotting():
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
    monkeypatch.setattr(notebook, "PAUSE", 0.0)
    watched, alone, pictures = GaussianNeurons(8, **parameters), GaussianNeurons(8, **parameters), Pictures()
    monkeypatch.setattr(notebook, "BYTES_A_SECOND", np.inf)
    with View(watched, None, 0.0, pictures):
        LEARN[how](watched)
    LEARN[how](alone)
    assert len(pictures) > 2
    found, expected = (
        model_file.contents(GaussianNeurons().get_params(), model._state) for model in (watched, alone)
    )
    assert found.facts == expected.facts
    for name, values in expected.arrays.items():
        np.testing.assert_array_equal(found.arrays[name], values, err_msg=name)
    np.testing.assert_array_equal(watched.learned_, alone.learned_)
    np.testing.assert_array_equal(watched.neuron_clusters_, alone.neuron_clusters_)
    learned = f"{alone.learned_.sum()} of {len(alone.centers_)} learned"
    assert pictures.words[-1].startswith(f"{alone.n_samples_seen_:,} samples seen · {learned}")


def test_a_picture_of_a_state_on_the_way_is_updated_at_the_end_of_the_cell(clock):
    model, pictures = GaussianNeurons(8, **FIXED), Pictures()
    view = View(model, None, 1.0, pictures)
    model.partial_fit(rows(5000))
    assert not pictures.words[-1].startswith("5,000")
    view.catch_up()
    assert pictures.words[-1].startswith("5,000")


def test_a_view_is_updated_at_intervals(clock):
    model, pictures = GaussianNeurons(4, **FIXED), Pictures()
    view = View(model, None, 0.5, pictures)
    assert pictures.words == ["waiting for the first samples"]
    model.partial_fit(rows(10))  # the first samples are shown at once
    assert len(pictures) == 2
    for _ in range(17):
        clock.now += 0.125
        model.partial_fit(rows(10))
    assert [words.split()[0] for words in pictures.words[2:]] == ["50", "90", "130", "170"]
    clock.now += 0.125
    model.partial_fit(rows(10))
    assert len(pictures) == 6
    view.catch_up()  # as at the end of a cell
    assert pictures.words[-1].startswith("190 samples seen")
    view.catch_up()
    assert len(pictures) == 7  # nothing new


def test_a_long_call_updates_the_view_while_it_runs_and_at_its_end(clock, monkeypatch):
    model, pictures = GaussianNeurons(16, **FIXED), Pictures()
    view = View(model, None, 0.0, pictures)
    monkeypatch.setattr(notebook, "BYTES_A_SECOND", np.inf)
    model.learn(Mixture(8, seed=1), 100_000, progress=False)
    assert len(pictures) > 4
    seen = [int(words.split()[0].replace(",", "")) for words in pictures.words[1:]]
    assert seen == sorted(seen)
    assert seen[-1] == 100_000
    del pictures[:]
    clock.now += 1e9
    view._next = np.inf  # not due before the end
    model.learn(Mixture(8, seed=1), 50_000, progress=False)
    assert [words.split()[0] for words in pictures.words] == ["150,000"]


def test_the_pause_after_a_slow_picture(clock):
    def slow(html, text):
        clock.now += 2.0

    view = View(GaussianNeurons(4, **FIXED).partial_fit(rows(10)), None, 0.1, slow)
    assert view._next == clock.now + 8.0


def test_the_pause_after_a_large_picture(clock):
    pictures = Pictures()
    view = View(GaussianNeurons(9, **FIXED).partial_fit(rows(10, columns=1600)), None, 0.0, pictures)
    assert view._next == pytest.approx(clock.now + len(pictures[0][0]) / 500_000)


def test_after_an_interrupt_the_view_shows_what_was_learned(clock):
    def stop(model, t):
        raise KeyboardInterrupt

    model, pictures = GaussianNeurons(4, **FIXED), Pictures()
    View(model, None, 1e9, pictures)
    with pytest.raises(KeyboardInterrupt):
        model.learn(Mixture(8, seed=1), 50_000, progress=False, every=20_000, callback=stop)
    assert pictures.words[-1].startswith("20,000 samples seen")


@pytest.mark.parametrize("how", LEARN)
def test_an_error_while_drawing_closes_the_view_only(how, monkeypatch):
    def broken(html, text):
        if "waiting" not in text:
            raise OSError("disk full")

    model, alone, other = GaussianNeurons(8, **FIXED), GaussianNeurons(8, **FIXED), Pictures()
    view, second = View(model, None, 0.0, broken), View(model, None, 0.0, other)
    with pytest.warns(RuntimeWarning, match=r"drawing failed \(OSError: disk full\)") as warned:
        LEARN[how](model)
    assert len(warned) == 1
    assert warned[0].filename == __file__
    assert view.closed
    assert not second.closed
    assert len(other) >= 2
    LEARN[how](alone)
    np.testing.assert_array_equal(model.centers_, alone.centers_)
    assert model.n_samples_seen_ == alone.n_samples_seen_


def test_if_warnings_are_errors_everything_is_learned_first():
    model = GaussianNeurons(8, **FIXED)
    View(model, (5, 5), 0.0, Pictures())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(RuntimeWarning, match=r"shape \(5, 5\) has 25 cells, but the model has 2"):
            model.partial_fit(rows(60_000))
    assert model.n_samples_seen_ == 60_000


def test_a_failed_call_changes_neither_the_model_nor_the_view(clock):
    model, pictures = GaussianNeurons(8, **FIXED).partial_fit(rows(5000)), Pictures()
    View(model, None, 0.0, pictures)
    bad = rows(60_000)
    bad[-1] = np.nan
    with pytest.raises(ValueError, match="row 59999"):
        model.partial_fit(bad)
    assert model.n_samples_seen_ == 5000
    assert pictures.words[-1].startswith("5,000 samples seen")
    alone = GaussianNeurons(8, **FIXED).partial_fit(rows(5000))
    np.testing.assert_array_equal(
        model.partial_fit(rows(9000, 1)).centers_, alone.partial_fit(rows(9000, 1)).centers_
    )


def test_copies_and_files_have_no_views(clock, tmp_path):
    model, pictures = GaussianNeurons(4, **FIXED).partial_fit(rows(2000)), Pictures()
    before = set(vars(model))
    View(model, None, 0.0, pictures)
    assert set(vars(model)) == before
    model.save(tmp_path / "model")
    others = [copy.copy(model), copy.deepcopy(model), pickle.loads(pickle.dumps(model)), clone(model)]
    for other in [*others, GaussianNeurons.load(tmp_path / "model")]:
        other.partial_fit(rows(100))
    assert len(pictures) == 1
    clock.now += 1.0
    model.partial_fit(rows(100))
    assert len(pictures) == 2


def test_close_shows_the_last_state(clock):
    model, pictures, more = GaussianNeurons(4, **FIXED).partial_fit(rows(10)), Pictures(), Pictures()
    with View(model, None, 1.0, pictures) as view, View(model, (2,), 1.0, more):
        model.partial_fit(rows(10))
        assert len(pictures) == len(more) == 1
    assert pictures.words[-1] == more.words[-1]
    assert pictures.words[-1].startswith("20 samples seen")
    assert len(pictures) == len(more) == 2
    clock.now += 10
    model.partial_fit(rows(10))
    view.close()
    assert len(pictures) == 2
    assert "closed view" in repr(view)


def test_an_error_in_the_last_update_is_a_warning(clock):
    def broken(html, text):
        if not text.startswith("10 "):
            raise OSError("disk full")

    for end in (View.close, View.catch_up):
        model = GaussianNeurons(4, **FIXED).partial_fit(rows(10))
        view, ended = View(model, None, 1.0, broken), []
        view.at_end = lambda ended=ended: ended.append(True)
        model.partial_fit(rows(10))  # not due yet
        with pytest.warns(RuntimeWarning, match="disk full"):
            end(view)
        assert view.closed
        assert ended == [True]
        end(view)  # no second warning


def test_only_the_newest_views_of_a_model_stay_open(fake_ipython):
    fake_ipython(Shell())
    model, other = GaussianNeurons(4, **FIXED), GaussianNeurons(4, **FIXED)
    views = [other.watch()] + [model.watch() for _ in range(5)]
    assert [view.closed for view in views] == [False, True, True, False, False, False]


def test_a_view_does_not_keep_a_model_alive():
    model = GaussianNeurons(4, **FIXED).partial_fit(rows(10))
    gone = weakref.ref(model)
    view = View(model, None, 0.1, Pictures())
    del model
    gc.collect()
    assert gone() is None
    assert view.closed
    view.close()


@pytest.mark.parametrize("shape", [5, (), (0, 5), (5, 5, 4), (1, 2, 3, 4), "55", (2.5, 2)])
def test_an_invalid_shape_is_refused(shape):
    with pytest.raises(
        ValueError, match=r"shape must be \(height, width\), \(height, width, 3\) for colours"
    ):
        View(GaussianNeurons(), shape, 0.1, Pictures())


def test_a_shape_or_interval_that_does_not_fit_is_refused():
    model = GaussianNeurons(4, **FIXED).partial_fit(rows(10))
    with pytest.raises(ValueError, match=r"shape \(5, 5\) has 25 cells, but the model has 2 columns"):
        View(model, (5, 5), 0.1, Pictures())
    with pytest.raises(ValueError, match="every must be finite and at least 0"):
        View(model, None, -1.0, Pictures())
    assert not notebook._open


# ---- notebooks --------------------------------------------------------------------------------------


class Shell:
    """The part of IPython's shell that a view needs."""

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
def fake_ipython(monkeypatch):
    """A function that replaces IPython by a shell and returns the list of displayed outputs."""

    def with_shell(shell):
        displayed: list = []
        module, display = types.ModuleType("IPython"), types.ModuleType("IPython.display")
        module.get_ipython = lambda: shell
        display.display = lambda data, **about: displayed.append(("display", data, about))
        display.update_display = lambda data, **about: displayed.append(("update", data, about))
        monkeypatch.setitem(sys.modules, "IPython", module)
        monkeypatch.setitem(sys.modules, "IPython.display", display)
        return displayed

    return with_shell


def test_a_notebook_updates_one_output(fake_ipython, clock):
    shell = Shell()
    displayed = fake_ipython(shell)
    model = GaussianNeurons(4, **FIXED)
    view = model.watch(every=1.0)
    model.partial_fit(rows(10))
    model.partial_fit(rows(10))  # not due yet
    assert [kind for kind, *_ in displayed] == ["display", "update"]
    for callback in list(shell.callbacks):
        callback("the cell has ended")
    assert [kind for kind, *_ in displayed] == ["display", "update", "update"]
    assert len({about["display_id"] for *_, about in displayed}) == 1
    assert displayed[-1][1]["text/plain"].startswith("20 samples seen")
    assert displayed[-1][1]["text/html"].startswith("<svg")
    view.close()
    assert shell.callbacks == []
    model.partial_fit(rows(10))
    assert len(displayed) == 3


@pytest.mark.parametrize("shell", [None, TerminalInteractiveShell()])
def test_watch_is_refused_in_a_terminal(fake_ipython, shell):
    fake_ipython(shell)
    with pytest.raises(RuntimeError, match=r"in a Jupyter notebook.*gaussian-neurons live"):
        GaussianNeurons().watch()


def test_without_ipython_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "IPython", None)
    with pytest.raises(ModuleNotFoundError, match=r"pip install jupyterlab.*gaussian-neurons live"):
        GaussianNeurons().watch()


def test_watch_in_an_ipython_shell():
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


# ---- the model as the value of a cell ---------------------------------------------------------------


def test_a_model_shows_what_it_found_below_its_parameters():
    model = GaussianNeurons(4, **FIXED)
    plain = model._repr_html_()
    assert "<svg" not in plain
    for more in (300, 3000):
        shown = model.partial_fit(rows(more))._repr_mimebundle_()
        drawn = re.search(r"<svg.*</svg>", shown["text/html"])[0]
        assert drawn == picture(notebook._scene(model, model._state))
        assert f"{model.n_samples_seen_:,} samples seen" in drawn
        assert drawn in model._repr_html_()
        assert shown["text/plain"] == repr(model) == repr(GaussianNeurons(4, **FIXED))
    with config_context(display="text"):
        assert list(model._repr_mimebundle_()) == ["text/plain"]
        assert not hasattr(model, "_repr_html_")
