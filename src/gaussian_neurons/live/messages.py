"""Messages of the page → commands: read, checked and bounded; nothing else gets through."""

import json
from collections.abc import Callable, Mapping
from typing import Any

from gaussian_neurons.live.setup import CHANGEABLE, MOST_NEURONS, point, shown, whole

LONGEST = 32 * 1024  # bytes of a message
MOST_PAINTED = 200  # points in a message
MOST_NOISE = 2000
NEWEST_NEURON = 1 << 31

Command = tuple[str, dict[str, Any]]  # what to do, and with what


def read(text: str) -> Command:
    """The command of a message, or a ValueError that says what is wrong with it.

    Examples
    --------
    >>> read('{"do": "reset", "seed": "new"}')
    ('reset', {'seed': 'new'})
    """
    try:
        message = json.loads(text, parse_constant=_no_number)
    except RecursionError:
        raise ValueError("a message must not be nested so deeply.") from None
    except ValueError as error:
        raise ValueError(f"a message must be JSON: {shown(str(error))}.") from None
    if not isinstance(message, dict):
        raise ValueError(f"a message must be an object with a 'do', got {shown(message)}.")
    do = message.pop("do", None)
    if not isinstance(do, str) or do not in MESSAGES:
        raise ValueError(f"there is nothing to do called {shown(do)}; there are {', '.join(MESSAGES)}.")
    parts = MESSAGES[do]
    unknown = [name for name in message if name not in parts]
    if unknown:
        raise ValueError(f"{do} knows no {shown(unknown[0])}; it takes {', '.join(parts) or 'nothing'}.")
    return do, {name: check(message.get(name)) for name, check in parts.items()}


def joined(waits: Command, command: Command) -> bool:
    """Whether a command could be taken into the one before it, which waits still.

    Of a neuron's places only the last matters, and points are painted together.

    Examples
    --------
    >>> waits = ("move", {"neuron": 2, "to": (0.1, 0.2)})
    >>> joined(waits, ("move", {"neuron": 2, "to": (0.3, 0.4)})), waits[1]["to"]
    (True, (0.3, 0.4))
    >>> joined(waits, ("release", {}))
    False
    """
    (before, known), (do, arguments) = waits, command
    if do != before or known.get("generation") != arguments.get("generation"):
        return False
    if do == "move" and known["neuron"] == arguments["neuron"]:
        known["to"] = arguments["to"]
        return True
    if do == "paint" and len(known["points"]) + len(arguments["points"]) <= MOST_PAINTED:
        known["points"] += arguments["points"]
        return True
    return False


def _no_number(text: str) -> Any:
    raise ValueError(f"{text} is no number")


def _object(value: Any) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise ValueError(f"a setup must be an object with names and values, got {shown(value)}.")
    return value


def _maybe_object(value: Any) -> Mapping[str, Any] | None:
    return None if value is None else _object(value)


def _flag(value: Any) -> bool:
    if value is not None and not isinstance(value, bool):
        raise ValueError(f"true or false was expected, got {shown(value)}.")
    return bool(value)


def _word(value: Any) -> str:
    if not isinstance(value, str) or len(value) > 100:
        raise ValueError(f"a name was expected, got {shown(value)}.")
    return value


def _maybe_word(value: Any) -> str | None:
    return None if value is None else _word(value)


def _neuron(value: Any) -> int:
    return whole("neuron", 1, NEWEST_NEURON, value)


def _maybe_generation(value: Any) -> int | None:
    """Of which start the neuron is that is meant: numbers begin anew with each."""
    return None if value is None else whole("generation", 1, NEWEST_NEURON, value)


def _changeable(value: Any) -> str:
    if not isinstance(value, str) or value not in CHANGEABLE:
        raise ValueError(
            f"{shown(value)} cannot be changed as it runs; these can: {', '.join(CHANGEABLE)}. Others need a "
            f"new start."
        )
    return value


def _which_seed(value: Any) -> str:
    if value not in ("same", "new"):
        raise ValueError(f"seed must be 'same' or 'new', got {shown(value)}.")
    return str(value)


def _maybe_point(value: Any) -> tuple[float, float] | None:
    return None if value is None else point(value)


def _points(value: Any) -> list[tuple[float, float]]:
    if not isinstance(value, list) or not 0 < len(value) <= MOST_PAINTED:
        raise ValueError(f"points must be a list of 1 to {MOST_PAINTED} places, got {shown(value)}.")
    return [point(one) for one in value]


def _how_many(value: Any) -> int:
    return whole("count", 1, MOST_NEURONS, 1 if value is None else value)


def _how_much_noise(value: Any) -> int:
    return whole("count", 1, MOST_NOISE, 200 if value is None else value)


MESSAGES: dict[str, dict[str, Callable[[Any], Any]]] = {
    "hello": {
        "setup": _maybe_object,
        "preset": _maybe_word,
        "link": _flag,
        "run": _maybe_word,
        "paused": _flag,
    },
    "start": {"setup": _object, "preset": _maybe_word},
    "preset": {"name": _word},
    "set": {"name": _changeable, "value": lambda value: value},  # which the setup checks
    "pause": {},
    "resume": {},
    "step": {},
    "reset": {"seed": _which_seed},
    "remove": {"neuron": _neuron, "generation": _maybe_generation},
    "add": {"count": _how_many, "at": _maybe_point, "generation": _maybe_generation},
    "move": {"neuron": _neuron, "to": point, "generation": _maybe_generation},
    "release": {},
    "paint": {"points": _points, "generation": _maybe_generation},
    "noise": {"count": _how_much_noise},
    "unpaint": {},
    "look": {"neuron": _neuron, "generation": _maybe_generation},
}
