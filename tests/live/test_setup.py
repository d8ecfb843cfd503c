"""What a link may say, and every message: checked, bounded, and told in a sentence."""

import json
import re
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gaussian_neurons.live import messages
from gaussian_neurons.live.setup import KNOWN, Setup, point


def test_a_setup_goes_through_a_message_and_back():
    setup = Setup("mixture", 7, 0.25, 0.1, 0.02, 0.5, 9, 0.2, 0.03, (1, 2), 99, 12.5)
    assert Setup().changed(json.loads(json.dumps(setup.told()))) == setup
    assert set(setup.told()) == set(KNOWN)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"K": 1_000_000}, "K (neurons) must be a whole number from 1 to 400, got 1000000."),
        ({"K": 0}, "K (neurons) must be a whole number from 1 to 400, got 0."),
        ({"K": 2.5}, "K (neurons) must be a whole number"),
        ({"K": True}, "K (neurons) must be a whole number"),
        ({"K": "16"}, "got '16'"),
        ({"sigma": 0}, "σ (width) must be a number from 10⁻³⁰ to 10³⁰, got 0."),
        ({"sigma": float("nan")}, "got nan"),
        ({"lambda": -0.1}, "λ (inhibition) must be a number from 0 to 100"),
        ({"eta": float("inf")}, "got inf"),
        ({"eta_sigma": 1.1}, "η_σ (width learning) must be a number from 0 to 1"),
        ({"size": 29}, "Patch size must be a whole number from 1 to 28"),
        ({"seed": -1}, "Seed must be a whole number from 0 to 4,294,967,295, got -1."),
        ({"seed": 1 << 32}, "Seed must be"),
        ({"speed": 0}, "Speed must be a number from 0.1 to 1,000,000,000, got 0."),
        ({"data": "/etc/passwd"}, "Data must be one of mnist-sample, mnist"),
        ({"classes": []}, "Classes must be a list"),
        ({"classes": [1, "2"]}, "A class must be a whole number"),
        ({"classes": list(range(2000))}, "Classes must be a list"),
        ({"sigma_x": 1}, "There is no setting 'sigma_x'; there are data, K"),
        ([1], "A setup must be an object"),
        ({"K": 10**5000}, "K (neurons) must be a whole number from 1 to 400, got int."),
        ({"K": "x" * 10_000}, "..."),
    ],
)
def test_what_is_wrong_is_said_shortly(given, said):
    with pytest.raises(ValueError, match=re.escape(said)) as error:
        Setup().changed(given)
    assert len(str(error.value)) < 300
    assert not str(error.value)[0].islower() or str(error.value)[0] in "σλη"


def test_the_same_experiment_with_any_seed_at_any_speed():
    assert Setup(seed=3, speed=10.0).same_as(Setup())
    assert not Setup(width=2.0).same_as(Setup())


def test_every_message_is_understood():
    wanted = {
        "hello": {"setup": {"K": 3}, "preset": None, "link": True, "run": None, "paused": False},
        "start": {"setup": {}, "preset": "figure2a"},
        "preset": {"name": "figure2a"},
        "set": {"name": "lambda", "value": 0.3},
        "pause": {},
        "resume": {},
        "step": {},
        "reset": {"seed": "new"},
        "remove": {"neuron": 3, "generation": 2},
        "add": {"count": 2, "at": (0.5, 1.0), "generation": None},
        "move": {"neuron": 1, "to": (0.0, -1.0), "generation": 1},
        "release": {},
        "paint": {"points": [(0.0, 1.0), (2.0, 3.0)], "generation": 4},
        "noise": {"count": 100},
        "unpaint": {},
        "look": {"neuron": 2, "generation": None},
    }
    assert set(wanted) == set(messages.MESSAGES)
    for do, arguments in wanted.items():
        assert messages.read(json.dumps({"do": do, **arguments})) == (do, arguments)
    assert messages.read('{"do": "add"}') == ("add", {"count": 1, "at": None, "generation": None})


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "must be JSON"),
        ("{", "must be JSON"),
        ("NaN", "must be JSON"),
        ('{"do": "move", "neuron": 1, "to": [NaN, 0]}', "NaN is no number"),
        ("[" * 30_000, "nested"),
        ("3", "must be an object"),
        ("{}", "nothing to do called None"),
        ('{"do": "__init__"}', "nothing to do called '__init__'; there are hello, start"),
        ('{"do": "left"}', "nothing to do called 'left'"),
        ('{"do": ["pause"]}', "nothing to do"),
        ('{"do": "pause", "now": true}', "pause knows no 'now'; it takes nothing"),
        ('{"do": "remove"}', "neuron must be a whole number"),
        ('{"do": "remove", "neuron": -1}', "neuron must be a whole number"),
        ('{"do": "move", "neuron": 1, "to": [1]}', "A place must be [x, y]"),
        ('{"do": "move", "neuron": 1, "to": [1, 1e300]}', "A coordinate must be"),
        ('{"do": "set", "name": "data", "value": 1}', "cannot be changed as it runs"),
        ('{"do": "set", "name": [], "value": 1}', "cannot be changed as it runs"),
        ('{"do": "reset", "seed": 3}', "'same' or 'new'"),
        ('{"do": "paint", "points": []}', "1 to 200 places"),
        ('{"do": "noise", "count": 1000000}', "count must be a whole number from 1 to 2,000"),
        ('{"do": "hello", "link": 7}', "true or false"),
        ('{"do": "hello", "link": 1}', "true or false"),
        ('{"do": "remove", "neuron": 1, "generation": 0}', "generation must be"),
        ('{"do": "preset", "name": {}}', "a name was expected"),
    ],
)
def test_a_wrong_message_is_refused(text, said):
    with pytest.raises(ValueError, match=re.escape(said)) as error:
        messages.read(text)
    assert len(str(error.value)) < 300


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=6,
)


@given(
    st.dictionaries(
        st.sampled_from(["setup", "name", "value", "neuron", "to", "at", "points", "count", "seed"]), values
    ),
    st.sampled_from(sorted(messages.MESSAGES)) | st.text(max_size=5),
)
def test_any_message_is_read_or_refused(arguments, do):
    try:
        what, parts = messages.read(json.dumps({"do": do, **arguments}))
    except ValueError:
        return
    assert what == do
    assert set(parts) == set(messages.MESSAGES[do])
    if "setup" in parts and parts["setup"] is not None:
        with suppress(ValueError):
            Setup().changed(parts["setup"])


def test_a_place_is_two_numbers():
    assert point([1, 2.5]) == (1.0, 2.5)
    for wrong in (None, [], [1, 2, 3], ["1", 2], {"x": 1}, [True, 1]):
        with pytest.raises(ValueError, match=r"place|coordinate"):
            point(wrong)
