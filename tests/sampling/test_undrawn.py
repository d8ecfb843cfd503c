"""Rows that are drawn where they are needed."""

import numpy as np
import pytest

from gaussian_neurons import GaussianNeurons
from gaussian_neurons.model import run
from gaussian_neurons.sampling import Patches
from gaussian_neurons.sampling.undrawn import Undrawn, undrawn_chunks
from tests.runs import same

IMAGES = np.random.default_rng(0).integers(256, size=(20, 12, 12)).astype(np.uint8)


def test_they_are_like_the_rows_of_the_stream():
    stream = Patches(IMAGES, 3, seed=5)
    rows, exact = Undrawn(stream, 100, 50), Patches(IMAGES, 3, seed=5).seek(100).read(50)
    assert rows.shape == exact.shape
    assert rows.dtype == exact.dtype
    for part in (slice(None), slice(10), slice(-10, None), slice(20, 30), slice(60, 70)):
        np.testing.assert_array_equal(rows[part], exact[part])
        assert len(rows[part]) == len(exact[part])
    assert [(begin, len(part)) for begin, part in rows.blocks(20)] == [(0, 20), (20, 20), (40, 10)]
    np.testing.assert_array_equal(np.concatenate([part for _, part in rows.blocks(20)]), exact)


@pytest.mark.parametrize("domain", [None, (0, 1)])
@pytest.mark.parametrize("width", [0.5, "auto"])
def test_a_model_learns_the_same_from_them(monkeypatch, domain, width):
    def learned():
        model = GaussianNeurons(8, width=width, domain=domain, random_state=0)
        reached = []
        model.learn(Patches(IMAGES, 3), 4500, every=2000, callback=lambda _, t: reached.append(t))
        return model, reached

    read, reached = learned()
    monkeypatch.setattr(run, "chunks_ahead", undrawn_chunks)
    undrawn, same_times = learned()
    assert same(undrawn, read)
    assert reached == same_times == [2000, 4000, 4500]
