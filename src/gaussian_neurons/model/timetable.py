"""When a model looks at what it has learned: fixed sample numbers, so that they do not depend on the calls.

A *look* decides which neurons learned and where the clusters of an automatic width are. A *review* is a look
that also changes something: with a single width it notes which neurons are held and reports events; with an
automatic width it decides which neurons form which cluster, and there are no other looks.
"""

import math

EARLY_REVIEWS = 1, 1.25, 1.5, 2, 2.5, 3  # windows until an automatic width is reviewed; then after every one
EARLY_LOOKS = 8  # looks of an automatic width while the first data doubles
LONGEST_STEP = 1000  # samples between two looks, at most


def last_look(seen: int) -> int:
    """The last look of a given width: at samples up to 100, then numbers of two digits, then thousands.

    Examples
    --------
    >>> [last_look(seen) for seen in (7, 99, 123, 4567, 12345, 1234567)]
    [7, 99, 120, 4500, 12000, 1234000]
    """
    step: int = min(LONGEST_STEP, max(1, 10 ** (len(str(seen)) - 2)))
    return seen // step * step


def next_review(seen: int, window: int) -> int:
    """The next review of a single width: after 1, 2, 5, 10, 20, ..., 100, 150, 200, ... windows of samples.

    A review costs as much as some thousand samples of a small layer.

    Examples
    --------
    >>> [next_review(seen, 1000) for seen in (0, 999, 1000, 2000, 5000, 9999, 10000, 100000, 149999)]
    [1000, 1000, 2000, 5000, 10000, 10000, 20000, 150000, 150000]
    """
    windows = seen // window
    step = 10 if windows < 100 else 50
    return window * next((early for early in (1, 2, 5) if windows < early), (windows // step + 1) * step)


def next_sharing_review(seen: int, window: int) -> int:
    """The next review of an automatic width: after 1, 1.25, 1.5, 2, 2.5, 3, 4, 5, ... windows.

    Examples
    --------
    >>> [next_sharing_review(seen, 1000) for seen in (0, 1000, 3000, 8000, 10**6)]
    [1000, 1250, 4000, 9000, 1001000]
    """
    if seen < EARLY_REVIEWS[-1] * window:
        return next(end for part in EARLY_REVIEWS if seen < (end := int(part * window)))
    return (seen // window + 1) * window


def last_early_look(received: int) -> int:
    """The last look of an automatic width at the first data: every sample up to 10, then every 9 %.

    Such a look places and reviews all neurons, so there are fewer of them.

    Examples
    --------
    >>> [last_early_look(received) for received in (1, 10, 11, 99, 178, 999)]
    [1, 10, 11, 96, 175, 988]
    """
    if received <= 10:
        return received
    steps = int(EARLY_LOOKS * math.log2(received / 10) + 1e-9)
    return math.ceil(10 * 2 ** (steps / EARLY_LOOKS) - 1e-9)
