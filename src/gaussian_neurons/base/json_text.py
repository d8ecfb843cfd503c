"""JSON text of unknown origin: its value, or a ValueError."""

import json
from typing import Any

MAX_DEPTH = 100  # levels of nesting, few enough for functions that call themselves, such as repr


def parsed(text: str | bytes, **options: Any) -> Any:
    """The value of a JSON text; a ValueError if it is invalid or nested too deeply.

    Examples
    --------
    >>> parsed('{"x": [1, 2]}')
    {'x': [1, 2]}
    >>> parsed("[" * 101 + "]" * 101)
    Traceback (most recent call last):
    ValueError: the JSON text is nested more than 100 levels deep
    """
    brackets: Any = (b"[", b"{") if isinstance(text, bytes) else ("[", "{")
    try:
        value = json.loads(text, **options)
        deep = sum(map(text.count, brackets)) > MAX_DEPTH and _is_deep(value)
    except RecursionError:
        deep = True
    if deep:
        raise ValueError(f"the JSON text is nested more than {MAX_DEPTH} levels deep")
    return value


def _is_deep(value: Any) -> bool:
    level = [value]
    for _ in range(MAX_DEPTH + 1):
        nested = [one for one in level if isinstance(one, dict | list)]
        if not nested:
            return False
        level = [part for one in nested for part in (one.values() if isinstance(one, dict) else one)]
    return True
