"""Settings and messages: every value is checked and bounded."""

import json
import re
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gaussian_neurons.live import commands as messages
from gaussian_neurons.live.setup import SETTINGS, Setup, position


def test_a_setup_survives_json():
    setup = Setup("mixture", 7, 0.25, 0.1, 0.02, 0.5, 9, 0.2, 0.03, (1, 2), 99, 12.5, "full")
    assert Setup().changed(json.loads(json.dumps(setup.as_json()))) == setup
    assert set(setup.as_json()) == set(SETTINGS)


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ({"K": 1_000_000}, "K (neurons) must be a whole number from 1 to 400, got 1000000."),
        ({"K": 0}, "K (neurons) must be a whole number from 1 to 400, got 0."),
        ({"K": 2.5}, "K (neurons) must be a whole number"),
        ({"K": True}, "K (neurons) must be a whole number"),
        ({"K": "16"}, "got '16'"),
        ({"sigma": 0}, "σ (width) must be finite and between 1e-30 and 1e+30, got 0.0."),
        ({"sigma": float("nan")}, "got nan"),
        ({"lambda": -0.1}, "λ (inhibition) must be finite and between 0 and 100"),
        ({"eta": float("inf")}, "got inf"),
        ({"eta_sigma": 1.1}, "η_σ (width learning rate) must be finite and between 0 and 1"),
        ({"size": 29}, "Patch size must be a whole number from 1 to 28"),
        ({"seed": -1}, "Seed must be a whole number from 0 to 4,294,967,295, got -1."),
        ({"seed": 1 << 32}, "Seed must be"),
        ({"speed": 0}, "Speed must be finite and between 0.1 and 1e+09, got 0.0."),
        ({"data": "/etc/passwd"}, "Data must be one of 'mnist-sample', 'mnist'"),
        (
            {"covariance_type": "round"},
            "Covariance type must be one of 'spherical', 'diag', 'full', got 'round'.",
        ),
        ({"covariance_type": ["full"]}, "Covariance type must be"),
        ({"classes": []}, "Classes must be a list"),
        ({"classes": [1, "2"]}, "A class must be a whole number"),
        ({"classes": list(range(2000))}, "Classes must be a list"),
        ({"sigma_x": 1}, "'sigma_x'"),
        ([1], "must be an object"),
        ({"K": 10**4000}, "K (neurons) must be a whole number from 1 to 400, got 1000"),
        ({"sigma": 10**4000}, "got inf"),
        ({"K": "x" * 10_000}, "..."),
    ],
)
def test_an_invalid_setting_is_reported_in_a_short_message(values, text):
    with pytest.raises(ValueError, match=re.escape(text)) as error:
        Setup().changed(values)
    assert len(str(error.value)) < 300


def test_experiments_are_equal_with_any_seed_and_speed():
    assert Setup(seed=3, speed=10.0).same_experiment(Setup())
    assert not Setup(width=2.0).same_experiment(Setup())


def test_covariances_are_learned_unless_a_rate_is_given():
    assert Setup().with_covariances("diag") == Setup(covariance_type="diag", width_learning_rate=0.1)
    assert Setup(width_learning_rate=0.5).with_covariances("full").width_learning_rate == 0.5
    assert Setup().with_covariances("spherical") == Setup()


def test_every_command_is_parsed():
    commands = {
        "hello": {"setup": {"K": 3}, "preset": None, "link": True, "run_name": None, "paused": False},
        "start": {"setup": {}, "preset": "figure2a"},
        "preset": {"name": "figure2a"},
        "set": {"name": "lambda", "value": 0.3},
        "pause": {},
        "resume": {},
        "step": {},
        "reset": {"seed": "new"},
        "undo": {},
        "redo": {},
        "remove": {"neuron": 3, "generation": 2},
        "add": {"count": 2, "at": (0.5, 1.0), "generation": None},
        "move": {"neuron": 1, "to": (0.0, -1.0), "generation": 1},
        "release": {},
        "paint": {"points": [(0.0, 1.0), (2.0, 3.0)], "generation": 4},
        "noise": {"count": 100},
        "unpaint": {},
        "inspect": {"neuron": 2, "generation": None},
    }
    assert set(commands) == set(messages.MESSAGES)
    for do, arguments in commands.items():
        assert messages.parse(json.dumps({"do": do, **arguments})) == (do, arguments)
    assert messages.parse('{"do": "add"}') == ("add", {"count": 1, "at": None, "generation": None})


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("", "must be JSON"),
        ("{", "must be JSON"),
        ("NaN", "must be JSON"),
        ('{"do": "move", "neuron": 1, "to": [NaN, 0]}', "NaN"),
        ("[" * 30_000, "nested"),
        ("3", "must be an object"),
        ("{}", "command None"),
        ('{"do": "__init__"}', "command '__init__'. Known: hello, start"),
        ('{"do": "disconnect"}', "command 'disconnect'"),
        ('{"do": ["pause"]}', "command"),
        ('{"do": "pause", "now": true}', "argument 'now' of pause. Known: none"),
        ('{"do": "remove"}', "Neuron must be a whole number"),
        ('{"do": "remove", "neuron": -1}', "Neuron must be a whole number"),
        ('{"do": "move", "neuron": 1, "to": [1]}', "A position must be [x, y]"),
        ('{"do": "move", "neuron": 1, "to": [1, 1e300]}', "A coordinate must be"),
        ('{"do": "set", "name": "data", "value": 1}', "cannot be changed during a run"),
        ('{"do": "set", "name": [], "value": 1}', "cannot be changed during a run"),
        ('{"do": "reset", "seed": 3}', "one of 'same', 'new'"),
        ('{"do": "paint", "points": []}', "1 to 200 positions"),
        ('{"do": "noise", "count": 1000000}', "Count must be a whole number from 1 to 2,000"),
        ('{"do": "hello", "link": 7}', "true or false"),
        ('{"do": "hello", "link": 1}', "true or false"),
        ('{"do": "remove", "neuron": 1, "generation": 0}', "Generation must be"),
        ('{"do": "preset", "name": {}}', "a name"),
    ],
)
def test_an_invalid_message_is_refused(text, error):
    with pytest.raises(ValueError, match=re.escape(error)) as raised:
        messages.parse(text)
    assert len(str(raised.value)) < 300


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=4,
)


@given(
    st.dictionaries(
        st.sampled_from(["setup", "name", "value", "neuron", "to", "at", "points", "count", "seed"]),
        values,
        max_size=3,
    ),
    st.sampled_from(sorted(messages.MESSAGES)) | st.text(max_size=5),
)
def test_any_message_is_parsed_or_refused(arguments, do):
    try:
        command, parts = messages.parse(json.dumps({"do": do, **arguments}))
    except ValueError:
        return
    assert command == do
    assert set(parts) == set(messages.MESSAGES[do])
    if parts.get("setup") is not None:
        with suppress(ValueError):
            Setup().changed(parts["setup"])


def test_a_position_is_two_numbers():
    assert position([1, 2.5]) == (1.0, 2.5)
    for invalid in (None, [], [1, 2, 3], ["1", 2], {"x": 1}, [True, 1]):
        with pytest.raises(ValueError, match=r"position|coordinate"):
            position(invalid)
