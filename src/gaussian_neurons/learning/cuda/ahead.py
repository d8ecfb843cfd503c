"""Blocks of samples that a layer learns before they are asked for.

A run asks for one block after another and reviews its neurons in between. Reviews do not move neurons with
given widths, so a GPU can go on meanwhile. If something else did move them, what it learned is not used.
"""

import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from gaussian_neurons.learning.cuda.task import Layer, Task

BLOCKS = 10  # learned at once, if a second block of the same length follows the first one


class Ahead:
    """Learns tasks of many threads, each of which asks for one block of a stream after another.

    Parameters
    ----------
    compute : of tasks, the layers after each of their blocks
    """

    def __init__(self, compute: Callable[[Sequence[Task]], list[list[Layer]]]) -> None:
        self._compute, self._of_thread = compute, threading.local()

    def learned(self, tasks: Sequence[Task]) -> list[Layer]:
        """The layers after their tasks."""
        if len(tasks) != 1:
            return [after for (after,) in self._compute(tasks)]
        (task,), known = tasks, vars(self._of_thread)
        expected: Task | None = known.get("expected")
        follows = expected is not None and task.is_like(expected)
        left: list[Layer] = known.get("left", []) if follows else []
        if not left:
            (left,) = self._compute([replace(task, blocks=BLOCKS if follows else 1)])
        after, *left = left
        known.update(expected=task.following(after), left=left)
        return [after]


def in_blocks(together: Callable[[Sequence[Task]], list[Layer]], tasks: Sequence[Task]) -> list[list[Layer]]:
    """The layers after each block of the tasks, by a function that gives the layers after the first one."""
    found: list[list[Layer]] = [[] for _ in tasks]
    left: list[tuple[list[Layer], Any]] = list(zip(found, tasks, strict=True))
    while left:
        after = together([task for _, task in left])
        for (layers, _), layer in zip(left, after, strict=True):
            layers.append(layer)
        left = [(layers, task.following(layers[-1])) for layers, task in left if len(layers) < task.blocks]
    return found
