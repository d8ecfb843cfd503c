"""Messages of the live page."""

import json
from typing import Any

from hypothesis import strategies as st

from fuzz.shared import check_sentence
from fuzz.target import target
from gaussian_neurons.live.commands import MESSAGES, parse
from gaussian_neurons.live.setup import CHANGEABLE, SETTINGS, Setup

SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=5),
    st.sampled_from(["same", "new", "mixture", 10**400, -1, 0, 1, 1 << 31, 1e15, *CHANGEABLE]),
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(st.sampled_from([*SETTINGS, "do", ""]), inner, max_size=3),
    ),
)
POSITIONS = st.lists(st.one_of(st.floats(), st.integers(-3, 3)), min_size=2, max_size=2)
NUMBERS = st.integers(1, 410)
SETUPS = st.dictionaries(st.sampled_from(sorted(SETTINGS)), st.one_of(SCALARS, NUMBERS), max_size=3)
PLAUSIBLE = {
    "neuron": NUMBERS,
    "generation": NUMBERS,
    "count": NUMBERS,
    "to": POSITIONS,
    "at": POSITIONS,
    "points": st.lists(POSITIONS, max_size=3),
    "setup": SETUPS,
    "seed": st.sampled_from(["same", "new"]),
    "name": st.sampled_from(CHANGEABLE),
    "value": st.one_of(NUMBERS, SCALARS),
    "preset": st.sampled_from([None, "digits"]),
    "run_name": st.none(),
    "link": st.booleans(),
    "paused": st.booleans(),
}
ARGUMENTS = sorted({name for arguments in MESSAGES.values() for name in arguments})
PLACES = ["%s", '{"do": %s}', '{"do": "set", "name": "K", "value": %s}', '{"do": "move", "neuron": %s}']
PLACES += ['{"do": "start", "setup": {"K": %s}}', '{"do": "paint", "points": [[0, 0], [0, %s]]}']


@st.composite
def _commands(draw: Any) -> str:
    """A command with plausible arguments, of which at most one is hostile."""
    do = draw(st.sampled_from(sorted(MESSAGES)))
    hostile = draw(st.sampled_from([None, None, "do", "more", *MESSAGES[do]]))
    message = {name: draw(VALUES if name == hostile else PLAUSIBLE[name]) for name in sorted(MESSAGES[do])}
    if hostile == "more":
        message[draw(st.sampled_from(ARGUMENTS))] = draw(VALUES)
    return json.dumps({"do": draw(SCALARS) if hostile == "do" else do} | message)


def _nested(place: str, depth: int, ends: tuple[str, str], inside: str) -> str:
    return place % (ends[0] * depth + inside + ends[1] * depth)


TEXTS = st.one_of(
    _commands(),
    _commands(),
    st.text(max_size=20),
    st.builds(
        _nested,
        st.sampled_from(PLACES),
        st.sampled_from([0, 1, 100, 900, 3000, 10000]),
        st.sampled_from([("[", "]"), ('{"a":', "}"), ("[", ""), ("-", "")]),
        st.sampled_from(["1", "NaN", "-Infinity", "1e999", "9" * 4000, "9" * 5000, '"\\ud800"', '"', "\x00"]),
    ),
)


@target("messages", text=TEXTS)
def messages(text: str) -> None:
    """A text is a command with checked arguments, or a ValueError with a short sentence; NaN and Infinity are
    refused. So is the setup in it: a valid one, which can be written as JSON, or a ValueError.
    """
    try:
        do, arguments = parse(text)
    except ValueError as error:
        check_sentence(error)
        return
    constants: list[str] = []
    json.loads(text, parse_constant=constants.append)
    assert not constants, f"{constants} were taken"
    assert do in MESSAGES, do
    assert set(arguments) == set(MESSAGES[do]), arguments
    for name in ("count", "neuron", "generation"):
        value = arguments.get(name)
        assert value is None or (type(value) is int and 1 <= value <= 1 << 31), f"{name}={value!r}"
    points = [arguments.get("at"), arguments.get("to"), *(arguments.get("points") or ())]
    assert all(abs(part) <= 1e15 for point in points if point is not None for part in point), points
    changes = arguments.get("setup") if do != "set" else {arguments["name"]: arguments["value"]}
    try:
        setup = Setup().changed(changes or {})
    except ValueError as error:
        check_sentence(error)
        return
    json.dumps(setup.as_json(), allow_nan=False)
    assert Setup().changed(json.loads(json.dumps(setup.as_json()))) == setup, "the setup has another meaning"
