"""Messages of the page → commands. Every message is checked and bounded before it is executed."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from gaussian_neurons.base.json_text import parsed
from gaussian_neurons.live.setup import CHANGEABLE, MAX_NEURONS, one_of, optional, position, short_repr, whole

MAX_LENGTH = 32 * 1024  # bytes of a message
MAX_PAINTED = 200  # points in a message
MAX_NOISE = 2000
MAX_NUMBER = 1 << 31  # of neurons and generations

Command = tuple[str, dict[str, Any]]  # name, arguments
Check = Callable[[Any], Any]


def parse(text: str) -> Command:
    """The command in a message, or a ValueError that says what is invalid.

    Examples
    --------
    >>> parse('{"do": "reset", "seed": "new"}')
    ('reset', {'seed': 'new'})
    """
    try:
        message = parsed(text, parse_constant=_reject_constant)
    except ValueError as error:
        raise ValueError(f"A message must be JSON: {short_repr(str(error))}.") from None
    if not isinstance(message, dict):
        raise ValueError(f"A message must be an object with the key 'do', got {short_repr(message)}.")
    do = message.pop("do", None)
    if not isinstance(do, str) or do not in MESSAGES:
        raise ValueError(f"Unknown command {short_repr(do)}. Known: {', '.join(MESSAGES)}.")
    parameters = MESSAGES[do]
    unknown = [name for name in message if name not in parameters]
    if unknown:
        known = ", ".join(parameters) or "none"
        raise ValueError(f"Unknown argument {short_repr(unknown[0])} of {do}. Known: {known}.")
    return do, {name: check(message.get(name)) for name, check in parameters.items()}


def merge(waiting: Command, command: Command) -> bool:
    """Merge a command into the one that waits before it, if possible.

    Of several moves of a neuron only the last matters. Painted points are collected.

    Examples
    --------
    >>> waiting = ("move", {"neuron": 2, "to": (0.1, 0.2)})
    >>> merge(waiting, ("move", {"neuron": 2, "to": (0.3, 0.4)})), waiting[1]["to"]
    (True, (0.3, 0.4))
    >>> merge(waiting, ("release", {}))
    False
    """
    (do_before, before), (do, arguments) = waiting, command
    if do != do_before or before.get("generation") != arguments.get("generation"):
        return False
    if do == "move" and before["neuron"] == arguments["neuron"]:
        before["to"] = arguments["to"]
        return True
    if do == "paint" and len(before["points"]) + len(arguments["points"]) <= MAX_PAINTED:
        before["points"] += arguments["points"]
        return True
    return False


def _reject_constant(text: str) -> Any:
    raise ValueError(f"{text} is not a number")


def _whole(name: str, most: int, default: int | None = None) -> Check:
    return lambda value: whole(name, 1, most, default if value is None else value)


def _object(value: Any) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise ValueError(f"Setup must be an object with names and values, got {short_repr(value)}.")
    return value


def _flag(value: Any) -> bool:
    if value is not None and not isinstance(value, bool):
        raise ValueError(f"Expected true or false, got {short_repr(value)}.")
    return bool(value)


def _name(value: Any) -> str:
    if not isinstance(value, str) or len(value) > 100:
        raise ValueError(f"Expected a name of at most 100 characters, got {short_repr(value)}.")
    return value


def _points(value: Any) -> list[tuple[float, float]]:
    if not isinstance(value, list) or not 0 < len(value) <= MAX_PAINTED:
        raise ValueError(f"Points must be a list of 1 to {MAX_PAINTED} positions, got {short_repr(value)}.")
    return [position(one) for one in value]


_NEURON = _whole("Neuron", MAX_NUMBER)
_GENERATION = optional(_whole("Generation", MAX_NUMBER))  # neuron numbers are valid within one generation

MESSAGES: dict[str, dict[str, Check]] = {
    "hello": {
        "setup": optional(_object),
        "preset": optional(_name),
        "link": _flag,
        "run_name": optional(_name),
        "paused": _flag,
    },
    "start": {"setup": _object, "preset": optional(_name)},
    "preset": {"name": _name},
    "set": {
        "name": partial(one_of, "A setting (others cannot be changed during a run)", CHANGEABLE),
        "value": lambda value: value,
    },  # `Setup.changed` checks the value
    "undo": {},
    "redo": {},
    "pause": {},
    "resume": {},
    "step": {},
    "reset": {"seed": partial(one_of, "Seed", ("same", "new"))},
    "remove": {"neuron": _NEURON, "generation": _GENERATION},
    "add": {
        "count": _whole("Count", MAX_NEURONS, default=1),
        "at": optional(position),
        "generation": _GENERATION,
    },
    "move": {"neuron": _NEURON, "to": position, "generation": _GENERATION},
    "release": {},
    "paint": {"points": _points, "generation": _GENERATION},
    "noise": {"count": _whole("Count", MAX_NOISE, default=200)},
    "unpaint": {},
    "inspect": {"neuron": _NEURON, "generation": _GENERATION},
}
