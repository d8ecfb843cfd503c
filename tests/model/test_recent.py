"""Recent samples: a value that keeps the last samples of a stream."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gaussian_neurons.model import recent as module
from gaussian_neurons.model.recent import Recent, window_for


def numbered(first: int, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Samples with the numbers first, first + 1, ... in each column, and a width for each."""
    rows = np.arange(first, first + count, dtype=float)
    return np.column_stack([rows, -rows]), rows / 10


def in_slots(values: np.ndarray, window: int) -> np.ndarray:
    """The last samples of a whole stream: sample t in row t mod window."""
    n = len(values)
    if n <= window:
        return values
    found = np.empty_like(values[:window])
    for t in range(n - window, n):
        found[t % window] = values[t]
    return found


def assert_holds(recent: Recent, samples: np.ndarray, widths: np.ndarray) -> None:
    np.testing.assert_array_equal(recent.samples, in_slots(samples, recent.window))
    np.testing.assert_array_equal(recent.widths, in_slots(widths, recent.window))
    assert recent.received == len(samples)


def test_how_many_samples_are_kept():
    assert window_for(25) == window_for(8388) == 1000
    assert window_for(10_000) == 838
    assert window_for(10**6) == 100
    assert window_for(25, (25, 25)) == 1000
    assert window_for(100, (100, 100)) == 830


def test_sample_t_is_in_row_t_modulo_the_window():
    recent = Recent.empty(1, np.float64, window=3)
    found = []
    for t in range(5):
        recent = recent.extended(np.array([[float(t)]]), None)
        found.append(recent.samples.ravel().tolist())
    assert found == [[0], [0, 1], [0, 1, 2], [3, 1, 2], [3, 4, 2]]


@given(window=st.integers(1, 9), chunks=st.lists(st.integers(0, 25), max_size=12))
def test_any_chunks_give_the_same_samples_in_the_same_order(window, chunks):
    recent, total = Recent.empty(2, np.float64, window), 0
    for count in chunks:
        recent = recent.extended(*numbered(total, count))
        total += count
        assert_holds(recent, *numbered(0, total))


@given(
    window=st.integers(1, 9), steps=st.lists(st.tuples(st.integers(0, 99), st.integers(0, 12)), max_size=15)
)
def test_values_that_continue_the_same_value_are_independent(window, steps):
    """A tree of values: each step appends to any earlier value, and in the end all are still right."""
    values = [(Recent.empty(2, np.float64, window), *numbered(0, 0))]
    for number, (parent, count) in enumerate(steps):
        recent, samples, widths = values[parent % len(values)]
        more = numbered(1000 * (number + 1), count)
        both = np.concatenate([samples, more[0]]), np.concatenate([widths, more[1]])
        values.append((recent.extended(*more), *both))
    for value in values:
        assert_holds(*value)


def test_appending_twice_to_one_value_gives_two_values():
    one = Recent.empty(1, np.float64, window=4).extended(np.array([[1.0], [2.0]]), None)
    before = one.samples
    left, right = (one.extended(np.array([[number]]), None) for number in (3.0, 4.0))
    assert left.samples.ravel().tolist() == [1, 2, 3]
    assert right.samples.ravel().tolist() == [1, 2, 4]
    assert one.samples.ravel().tolist() == before.ravel().tolist() == [1, 2]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_samples_are_kept_in_the_precision_of_the_model(dtype):
    recent = Recent.empty(2, dtype).extended(np.full((3, 2), 0.1), np.full(3, 0.1))
    assert recent.dtype == recent.samples.dtype == dtype
    assert recent.samples[0, 0] == dtype(0.1)
    assert recent.widths.dtype == np.float64  # exact, as given
    assert recent.n_features == 2


def test_without_sample_widths_they_are_nan():
    recent = Recent.empty(2, np.float64, window=3).extended(*numbered(0, 2))
    recent = recent.extended(numbered(2, 2)[0], None)
    np.testing.assert_array_equal(recent.widths, [np.nan, 0.1, np.nan])


def test_the_first_samples_while_all_are_kept():
    recent = Recent.empty(2, np.float64, window=10).extended(*numbered(0, 7))
    assert_holds(recent.first(4), *numbered(0, 4))
    assert_holds(recent.first(4).extended(*numbered(4, 30)), *numbered(0, 34))
    assert_holds(recent, *numbered(0, 7))


@pytest.mark.parametrize("received", [0, 1, 6, 7, 8, 13, 14, 30])
def test_a_restored_value_is_the_same_and_continues_alike(monkeypatch, received):
    monkeypatch.setattr(module, "window_for", lambda dimensions, each=(): 7)
    recent = Recent.empty(2, np.float64).extended(*numbered(0, received))
    restored = Recent.restored(recent.samples.copy(), recent.widths.copy(), received)
    assert_holds(restored, *numbered(0, received))
    for count in (1, 3, 20):
        more = numbered(received, count)
        assert_holds(restored.extended(*more), *numbered(0, received + count))


def test_two_threads_that_append_to_one_value_write_to_different_rows():
    """The second one begins while NumPy copies the rows of the first."""
    shared = Recent.empty(1, np.float64, window=10).extended(np.zeros((3, 1)), None)
    siblings = []

    class Slow:
        def __len__(self):
            return 2

        def __array__(self, dtype=None, copy=None):
            siblings.append(shared.extended(np.full((2, 1), 2.0), None))
            return np.full((2, 1), 1.0)

    first = shared.extended(Slow(), None)
    assert first.samples.ravel().tolist() == [0, 0, 0, 1, 1]
    assert siblings[0].samples.ravel().tolist() == [0, 0, 0, 2, 2]
