"""Messages of the live page."""

import json
from typing import Any

from hypothesis import strategies as st

from fuzz.shared import check_sentence
from fuzz.target import target
from gaussian_neurons.live.messages import MESSAGES, parse
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
POSITIONS = st.lists(st.one_of(st.floats(), st.integers()), min_size=2, max_size=2)
ARGUMENTS = sorted({name for arguments in MESSAGES.values() for name in arguments})


@st.composite
def _commands(draw: Any) -> str:
    do = draw(st.one_of(st.sampled_from(sorted(MESSAGES)), SCALARS))
    names = sorted(MESSAGES.get(do, ())) if isinstance(do, str) else []
    message = {name: draw(st.one_of(VALUES, POSITIONS, st.lists(POSITIONS, max_size=3))) for name in names}
    message |= draw(st.dictionaries(st.sampled_from([*ARGUMENTS, ""]), VALUES, max_size=1))
    return json.dumps({"do": do} | message)


def _nested(depth: int, ends: tuple[str, str], inside: str) -> str:
    return '{"do": "set", "name": "K", "value": ' + ends[0] * depth + inside + ends[1] * depth + "}"


TEXTS = st.one_of(
    _commands(),
    _commands(),
    st.text(max_size=20),
    st.builds(
        _nested,
        st.sampled_from([1, 100, 1000, 3000, 10000]),
        st.sampled_from([("[", "]"), ('{"a":', "}"), ("[", ""), ("-", "")]),
        st.sampled_from(["1", "NaN", "-Infinity", "1e999", "9" * 5000, '"\\ud800"', '"', "\x00"]),
    ),
)


@target("messages", text=TEXTS)
def messages(text: str) -> None:
    """A text is a command with checked arguments, or a ValueError with a short sentence. So is the setup in
    it: a valid one, or a ValueError. A command can be written as JSON again.
    """
    try:
        do, arguments = parse(text)
    except ValueError as error:
        check_sentence(error)
        return
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
