"""The compiled core refuses arrays that do not fit together: it never reads or writes outside of them."""

from typing import Any

import numpy as np
import pytest

from gaussian_neurons import _core

K, D, N = 3, 2, 4


def ones(*shape: int) -> np.ndarray:
    return np.ones(shape)


def integers(value: int, *shape: int) -> np.ndarray:
    return np.full(shape, value, np.int64)


def samples_of_images(images: np.ndarray, outputs: dict[str, np.ndarray]) -> dict[str, Any]:
    return {"images": images, "chosen": None, "size": 3, "seed": 0, "first": 0, **outputs}


def valid(function: str) -> dict[str, Any]:
    """Arguments that `function` takes."""
    rule = {"learning_rate": 0.1, "inhibition": 0.3, "width_learning_rate": 0.1, "repulsion_every": 1}
    layer = {"centers": ones(K, D), "widths": ones(K)}
    gaussians = {"centers": ones(K, D), "variances": ones(K), "counts": ones(K), "directions": 2.0}
    images = np.zeros((2, 6, 5, 1), np.uint8)
    return {
        "learn": layer | {"samples": ones(N, D), "sample_widths": ones(N), "first": 0, "seen": 0} | rule,
        "learn_each": {
            "centers": ones(2, K, D),
            "widths": ones(2 * K),
            "samples": ones(N, D),
            "sample_widths": ones(N),
            "next": integers(0, 2),
            "seen": integers(0, 2),
            "rules": np.tile([0.1, 0.3, 0.1, 1.0], (2, 1)),
            "status": integers(0, 2),
            "where": integers(0, 2),
            "threads": 1,
        },
        "learn_shares": layer
        | {"totals": ones(K), "resting": np.zeros(K, bool), "samples": ones(N, D)}
        | {"first": 0, "rate": 0.1, "least_width": 1e-9, "reach": 30.0},
        "squared_distances": {"samples": ones(N, D), "centers": ones(K, D), "out": ones(N, K)},
        "quadratic_forms": {
            "samples": ones(N, D),
            "centers": ones(K, D),
            "covariances": ones(K, D),
            "out": ones(N, K),
        },
        "strongest": {
            "samples": ones(N, D),
            "centers": ones(K, D),
            "widths": ones(K),
            "offsets": ones(K),
            "winner": integers(0, N),
            "log_response": ones(N),
        },
        "merge_gaussians": gaussians,
        "refine_groups": gaussians | {"margin": 0.0, "groups": integers(0, K)},
        "relocate": layer
        | {"counts": ones(K), "groups": integers(0, K), "resting": np.zeros(K, bool)}
        | {"rows": ones(N, D), "winners": integers(-1, N), "background": ones(N), "margin": 0.0}
        | {"origins": integers(0, K)},
        "tridiagonal": {"matrix": ones(K, K), "diagonal": ones(K), "off_diagonal": ones(K - 1)},
        "patches": samples_of_images(images, {"out": ones(N, 9)}),
        "neighbourhoods": samples_of_images(
            images, {"noise": 0.1, "means": np.ones((N, 9), np.float32), "widths": np.ones(N, np.float32)}
        ),
        "random_words": {"seed": 0, "purpose": 0, "first": 0, "out": np.ones((N, 5), np.uint32)},
        "random_normals": {"seed": 0, "purpose": 0, "first": 0, "out": np.ones((N, 5), np.float32)},
    }[function]


FUNCTIONS = (
    *("learn", "learn_each", "learn_shares", "squared_distances", "quadratic_forms", "strongest"),
    *("merge_gaussians", "refine_groups", "relocate", "tridiagonal"),
    *("patches", "neighbourhoods", "random_words", "random_normals"),
)
RULES = np.tile([0.1, 0.3, 0.1, 1.0], (2, 1))
WRONG = [
    ("learn", {"centers": ones(0, D), "widths": ones(0)}, "at least one row and one column"),
    ("learn", {"centers": ones(K, 0), "samples": ones(N, 0)}, "at least one row and one column"),
    ("learn", {"widths": ones(K + 1)}, "widths must be"),
    ("learn", {"widths": ones(K, D + 1)}, "widths must be"),
    ("learn", {"widths": ones(K, D, D + 1)}, "widths must be"),
    ("learn", {"samples": ones(N, D + 1)}, "as many columns"),
    ("learn", {"sample_widths": ones(N - 1)}, "sample_widths must have"),
    ("learn", {"sample_widths": ones(N, D)}, "sample_widths must have"),
    ("learn", {"first": -1}, "first must be"),
    ("learn", {"first": N + 1}, "first must be"),
    ("learn", {"seen": -1}, "seen must be"),
    ("learn", {"repulsion_every": 0}, "repulsion_every must be"),
    ("learn_each", {"widths": ones(K)}, "widths must be"),
    ("learn_each", {"sample_widths": ones(2 * N)}, "sample_widths must have"),
    ("learn_each", {"next": integers(0, 1)}, "next, seen, status and where"),
    ("learn_each", {"seen": integers(0, 3)}, "next, seen, status and where"),
    ("learn_each", {"status": integers(0, 1)}, "next, seen, status and where"),
    ("learn_each", {"where": integers(0, 1)}, "next, seen, status and where"),
    ("learn_each", {"rules": ones(2, 3)}, "rules must be"),
    ("learn_each", {"rules": ones(1, 4)}, "rules must be"),
    ("learn_each", {"rules": RULES * [1, 1, 1, 0]}, "repulsion_every must be"),
    ("learn_each", {"rules": RULES * [1, 1, 1, np.inf]}, "repulsion_every must be"),
    ("learn_each", {"next": integers(N + 1, 2)}, "next must be"),
    ("learn_each", {"next": integers(-1, 2)}, "next must be"),
    ("learn_each", {"seen": integers(-1, 2)}, "seen must be"),
    ("learn_each", {"threads": 0}, "threads must be"),
    ("learn_shares", {"centers": ones(0, D), "widths": ones(0)}, "at least one row and one column"),
    ("learn_shares", {"widths": ones(K + 1)}, "widths, totals and resting"),
    ("learn_shares", {"totals": ones(K - 1)}, "widths, totals and resting"),
    ("learn_shares", {"resting": np.zeros(1, bool)}, "widths, totals and resting"),
    ("learn_shares", {"samples": ones(N, 1)}, "as many columns"),
    ("learn_shares", {"first": N + 1}, "first must be"),
    ("squared_distances", {"samples": ones(N, 1)}, "as many columns"),
    ("squared_distances", {"out": ones(N - 1, K)}, "out must have"),
    ("squared_distances", {"out": ones(N, K + 1)}, "out must have"),
    (
        "quadratic_forms",
        {"centers": ones(0, D), "covariances": ones(0, D), "out": ones(N, 0)},
        "at least one row",
    ),
    (
        "quadratic_forms",
        {"samples": ones(N, 0), "centers": ones(K, 0), "covariances": ones(K, 0)},
        "one column",
    ),
    ("quadratic_forms", {"samples": ones(N, 1)}, "as many columns"),
    ("quadratic_forms", {"covariances": ones(K)}, "covariances must be"),
    ("quadratic_forms", {"covariances": ones(K, D, D + 1)}, "covariances must be"),
    ("quadratic_forms", {"covariances": np.zeros((K, D))}, "positive definite"),
    ("quadratic_forms", {"covariances": np.zeros((K, D, D))}, "positive definite"),
    ("quadratic_forms", {"out": ones(N, K - 1)}, "out must have"),
    ("strongest", {"samples": ones(N, 1)}, "as many columns"),
    ("merge_gaussians", {"centers": ones(0, D), "variances": ones(0), "counts": ones(0)}, "at least one row"),
    ("merge_gaussians", {"variances": ones(K - 1)}, "variances and counts must be"),
    ("merge_gaussians", {"counts": ones(K + 1)}, "variances and counts must be"),
    ("merge_gaussians", {"variances": np.zeros(K)}, "must be positive"),
    ("merge_gaussians", {"counts": np.full(K, np.nan)}, "must be positive"),
    ("refine_groups", {"groups": integers(0, K - 1)}, "groups must be"),
    ("refine_groups", {"groups": integers(K, K)}, "groups must be"),
    ("refine_groups", {"groups": integers(-1, K)}, "groups must be"),
    ("relocate", {"rows": ones(N, 1)}, "same columns"),
    ("relocate", {"centers": ones(0, D)}, "same columns"),
    ("relocate", {"widths": ones(1)}, "must be \\(K,\\)"),
    ("relocate", {"counts": ones(1)}, "must be \\(K,\\)"),
    ("relocate", {"groups": integers(0, 1)}, "must be \\(K,\\)"),
    ("relocate", {"resting": np.zeros(1, bool)}, "must be \\(K,\\)"),
    ("relocate", {"origins": integers(0, 1)}, "must be \\(K,\\)"),
    ("relocate", {"winners": integers(-1, 1)}, "winners and background"),
    ("relocate", {"background": ones(1)}, "winners and background"),
    ("relocate", {"winners": integers(K, N)}, "winners must be"),
    ("relocate", {"winners": integers(-2, N)}, "winners must be"),
    ("relocate", {"widths": np.zeros(K)}, "widths must be positive"),
    ("relocate", {"counts": -ones(K)}, "widths must be positive"),
    ("tridiagonal", {"matrix": ones(K, K - 1)}, "matrix must be"),
    ("tridiagonal", {"matrix": ones(K - 1, K)}, "matrix must be"),
    ("tridiagonal", {"off_diagonal": ones(K)}, "one element fewer"),
    ("patches", {"images": np.zeros((0, 6, 5, 1), np.uint8)}, "images"),
    ("patches", {"images": np.zeros((2, 6, 5, 0), np.uint8)}, "channel"),
    ("patches", {"chosen": integers(0, 0)}, "images"),
    ("patches", {"size": 6, "out": ones(N, 36)}, "windows must fit"),
    ("patches", {"out": ones(N, 8)}, "out must have"),
    ("neighbourhoods", {"chosen": integers(2, 1)}, "chosen must be"),
    ("neighbourhoods", {"size": 4, "means": np.ones((N, 16), np.float32)}, "windows must fit"),
    ("neighbourhoods", {"size": -1, "means": np.ones((N, 1), np.float32)}, "size must be"),
    ("neighbourhoods", {"size": 2**63 - 1}, "windows must fit"),
    ("neighbourhoods", {"means": np.ones((N, 8), np.float32)}, "means must have"),
    ("neighbourhoods", {"widths": np.ones(N - 1, np.float32)}, "widths must be"),
]


@pytest.mark.parametrize("function", FUNCTIONS)
def test_arguments_that_fit_are_taken(function):
    getattr(_core, function)(**valid(function))


@pytest.mark.parametrize(("function", "wrong", "message"), WRONG)
def test_an_argument_that_does_not_fit_is_an_error(function, wrong, message):
    with pytest.raises(ValueError, match=message):
        getattr(_core, function)(**valid(function) | wrong)


def test_an_unknown_instruction_set_is_an_error():
    with pytest.raises(ValueError, match="mmx"):
        _core.use("mmx")
