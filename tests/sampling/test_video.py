"""Frames: hand calculations, the law that ties them to neighbourhoods, statistics, video files."""

import re
from pathlib import Path

import numpy as np
import pytest
from scipy import stats
from sklearn.covariance import OAS

from gaussian_neurons.base import extras
from gaussian_neurons.base.covariances import TYPES
from gaussian_neurons.sampling import Frames, Neighbourhoods, frames_from_file, reference

RANDOM = np.random.default_rng(3)


def test_mean_and_width_without_noise_by_hand():
    """One pixel with the values 10, 11 and 15: the mean is 12, and 2/3 (4 + 1 + 9) = 28/3."""
    video = np.array([10, 11, 15], np.uint8).reshape(3, 1, 1)
    mean, width = Frames(video, size=1, frames=3).read(1)
    assert mean[0, 0] == pytest.approx(12 / 255)
    assert width[0] == pytest.approx(28 / 3 / 255**2)


def test_covariances_without_noise_by_hand():
    """Two channels a and b = 2a: S = 14/255^2 (1 2; 2 4), and rho = 2 / (4 (1 - 1/2)) = 1.

    Three frames say so little that the full covariance is shrunk to sigma_x = 2/3 tr(S).
    """
    a = np.array([10, 11, 15], np.uint8).reshape(3, 1, 1)
    video = np.stack([a, 2 * a], axis=3)
    _, diagonal = Frames(video, size=1, frames=3, covariance="diag").read(1)
    assert diagonal[0] == pytest.approx(np.array([1, 4]) * 4 / 3 * 14 / 255**2)
    _, covariance = Frames(video, size=1, frames=3, covariance="full").read(1)
    np.testing.assert_allclose(covariance[0], np.eye(2) * 2 / 3 * 5 * 14 / 255**2, rtol=1e-5, atol=1e-8)


@pytest.mark.parametrize("covariance", TYPES)
@pytest.mark.parametrize("kind", [np.uint8, np.float32])
def test_nine_frames_that_are_the_nine_neighbours_are_a_neighbourhood(covariance, kind):
    """An image with one place for a neighbourhood, and the video of the nine patches: the same bits."""
    image = RANDOM.integers(0, 256, (8, 8, 3)).astype(kind)
    image = image / kind(255) if kind == np.float32 else image
    video = np.stack([image[y : y + 6, x : x + 6] for y in range(3) for x in range(3)])
    near = Neighbourhoods(image[None], 6, 0.2, seed=5, covariance=covariance).read(20)
    after = Frames(video, 6, 9, seed=5, noise=0.2, covariance=covariance).read(20)
    for one, other in zip(near, after, strict=True):
        assert one.tobytes() == other.tobytes()


@pytest.mark.parametrize("frames", [2, 5, 12])
def test_full_covariances_are_those_of_scikit_learn(frames):
    video = RANDOM.integers(0, 256, (frames, 4, 4), np.uint8)
    _, covariances = Frames(video, 4, frames, seed=1, noise=0.1, covariance="full").read(10)
    normal = reference.normals(1, reference.NOISE, 0, 10, frames * 16).reshape(10, frames, 16)
    for noise, found in zip(normal, covariances, strict=True):
        patches = video.reshape(frames, 16) / 255 + 0.1 * noise
        np.testing.assert_allclose(found, 2 * 16 * OAS().fit(patches).covariance_, rtol=2e-4, atol=2e-5)


def test_places_and_first_frames_are_uniform():
    """The value of the first pixel tells the place: 4 rows, 3 columns, and 5 first frames of 7."""
    video = np.zeros((7, 6, 5), np.float32)
    video += 100 * np.arange(7)[:, None, None] + 10 * np.arange(6)[:, None] + np.arange(5)
    with pytest.warns(UserWarning, match="float video are not scaled"):
        stream = Frames(video, 3, 3, seed=2)
    first = np.rint(stream.read(60_000)[0][:, 0] - 100).astype(int)  # the mean is that of the middle frame
    places = [100 * f + 10 * r + c for f in range(5) for r in range(4) for c in range(3)]
    counts = np.bincount(first, minlength=500)
    assert counts.sum() == counts[places].sum()
    assert stats.chisquare(counts[places]).pvalue > 1e-4


def test_noise_has_the_right_mean_and_variance():
    """On a black video: the mean has variance noise^2 / n, the width 2 D noise^2 (1 - 1/n) on average."""
    noise, n, D = 0.1, 5, 9
    means, widths = Frames(np.zeros((20, 6, 6), np.uint8), 3, n, seed=7, noise=noise).read(20_000)
    assert means.var() == pytest.approx(noise**2 / n, rel=4 * np.sqrt(2 / means.size))
    scaled = n / 2 * widths.astype(np.float64) / noise**2
    assert stats.kstest(scaled, "chi2", args=((n - 1) * D,)).pvalue > 1e-4


def test_the_program_of_the_page_learns_widths(capsys):
    """Neurons on the background, where nothing moves, become narrower than those on the digits."""
    text = (Path(__file__).parents[2] / "docs" / "video.md").read_text()
    names = {}
    exec(re.search(r"```python\n(.*?)```", text, re.DOTALL)[1].replace("100_000", "20_000"), names)
    model = names["model"]
    assert capsys.readouterr().out.startswith(str(model.n_clusters_))
    assert 2 <= model.n_clusters_ <= 9
    mean, width = model.centers_[model.learned_].mean(axis=1), model.widths_[model.learned_]
    assert mean[width.argmin()] < 0.05
    assert width.min() == pytest.approx(2 * 25 * 0.01 * 8 / 9, rel=0.2)
    assert np.median(width) > 2 * width.min()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"video": np.zeros((5, 5), np.uint8)}, r"video must be an array \(n, height, width\)"),
        ({"frames": 1}, "frames must be a whole number of at least 2, got 1"),
        ({"frames": 8}, "frames must be at most the 7 of the video, got 8"),
        ({"size": 7}, "no patch of size 7 fits into images of 6 x 6 pixels: at most 6"),
        ({"noise": -1.0}, "noise must be finite and at least 0"),
        ({"covariance": "tied"}, "covariance must be one of 'spherical', 'diag', 'full', got 'tied'"),
        ({"video": "absent.mp4"}, "there is no video file 'absent.mp4'"),
    ],
)
def test_invalid_arguments_are_rejected(arguments, message):
    if isinstance(arguments.get("video"), str):
        pytest.importorskip("av", reason="video files need av")
    with pytest.raises((ValueError, FileNotFoundError), match=message):
        Frames(**{"video": np.zeros((7, 6, 6), np.uint8), "size": 5, "frames": 3, **arguments})


# ---- video files ------------------------------------------------------------------------------------


def written(path, video):
    """A video file without losses."""
    av = pytest.importorskip("av", reason="video files need av")
    with av.open(str(path), "w") as container:
        stream = container.add_stream("ffv1", rate=25)
        stream.height, stream.width, stream.pix_fmt = *video.shape[1:3], "bgr0"
        for frame in video:
            container.mux(stream.encode(av.VideoFrame.from_ndarray(frame, format="rgb24")))
        container.mux(stream.encode())
    return path


def test_a_file_is_read_frame_by_frame(tmp_path):
    video = RANDOM.integers(0, 256, (6, 16, 24, 3), np.uint8)
    path = written(tmp_path / "a.mkv", video)
    found = frames_from_file(path)
    assert found.dtype == np.uint8
    assert (found == video).all()
    one, other = Frames(path, 5, 3, seed=1).read(50), Frames(video, 5, 3, seed=1).read(50)
    assert all((a == b).all() for a, b in zip(one, other, strict=True))
    grey = frames_from_file(path, grey=True)
    assert grey.shape == (6, 16, 24)
    luma = video @ np.array([0.299, 0.587, 0.114])
    assert np.abs(grey - luma).mean() < 25  # FFmpeg uses the range 16 to 235 for some formats


def test_a_file_that_is_no_video_is_rejected(tmp_path):
    pytest.importorskip("av", reason="video files need av")
    path = tmp_path / "text.mp4"
    path.write_text("no video")
    with pytest.raises(ValueError, match=r"text.mp4' cannot be read as a video"):
        frames_from_file(path)


def test_missing_av_is_named(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(ModuleNotFoundError, match=re.escape(f"need av: {extras.install('video')}")):
        frames_from_file("a.mp4")
