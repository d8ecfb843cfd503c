"""Warnings name the line of the caller."""

import pathlib

import numpy as np
import pandas as pd
import pytest

from gaussian_neurons import GaussianNeurons
from gaussian_neurons.sampling import Patches

X = np.random.default_rng(0).random((50, 2))


@pytest.mark.parametrize(
    "call",
    [
        lambda model: model.predict(X),
        lambda model: model.partial_fit(X),
        lambda model: model.learn(X),
        lambda model: model.learn(iter(X), 99),
        lambda model: Patches(np.full((2, 9, 9), 255.0), 3),
    ],
)
def test_a_warning_names_the_line_of_the_caller(call):
    model = GaussianNeurons(2, width=1.0).partial_fit(pd.DataFrame(X, columns=["a", "b"]))
    with pytest.warns(UserWarning, match="names|scaled|ended") as caught:
        call(model)
    assert {pathlib.Path(one.filename).name for one in caught} == {"test_warn.py"}
