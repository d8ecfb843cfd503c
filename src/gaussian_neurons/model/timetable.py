"""When a learner looks at what it has learned: often at first, then every so many samples."""

import numpy as np

EARLY_LOOKS = (1, 1.25, 1.5, 2, 2.5, 3, 4, 5, 6, 8)  # windows after which a ladder is reviewed ...
LOOK_EVERY = 3  # ... and then
GUESSES = 10  # how often a ladder is asked while the first data doubles


def next_review(seen: int, window: int) -> int:
    """When it is next time to remember: after 1, 2, 5, 10, 20, ..., 100, 150, 200, ... windows of samples.

    A review costs as much as some thousand samples of a small layer.

    Examples
    --------
    >>> [next_review(seen, 1000) for seen in (0, 999, 1000, 2000, 5000, 9999, 10000, 100000, 149999)]
    [1000, 1000, 2000, 5000, 10000, 10000, 20000, 150000, 150000]
    """
    windows = seen // window
    step = 10 if windows < 100 else 50
    return window * next((early for early in (1, 2, 5) if windows < early), (windows // step + 1) * step)


def next_look(seen: int, window: int) -> int:
    """The same for a ladder, which follows its stream: after 1, 1.25, 1.5, ... 8, 9, 12, 15, ... windows.

    Examples
    --------
    >>> [next_look(seen, 1000) for seen in (0, 1000, 3000, 8000, 9000, 10**6)]
    [1000, 1250, 4000, 9000, 12000, 1002000]
    """
    early = (int(part * window) for part in EARLY_LOOKS)
    return next(
        (end for end in early if seen < end), (seen // (LOOK_EVERY * window) + 1) * LOOK_EVERY * window
    )


def looked_at(received: int) -> int:
    """How much of the first data a ladder is asked about, so that it need not begin anew with every sample.

    Examples
    --------
    >>> [looked_at(received) for received in (1, 100, 101, 600, 999)]
    [1, 100, 100, 565, 984]
    """
    if received <= 100:
        return received
    steps = int(GUESSES * np.log2(received / 100) + 1e-9)
    return int(100 * 2 ** (steps / GUESSES))
