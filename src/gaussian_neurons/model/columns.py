"""The columns of rows and those of a model: the same names in the same order, or an error."""

from collections.abc import Iterable, Sequence

from gaussian_neurons.base.warn import warn

SHOWN = 5  # names in a list


def require_columns(
    names: Sequence[str] | None, count: int, known: Sequence[str] | None, known_count: int
) -> None:
    """Raise a ValueError if rows do not have the columns that a model has learned from.

    If only one of the two has names, columns are matched by position, with a warning. The messages
    are those that the estimator checks of scikit-learn require.

    Parameters
    ----------
    names, count : of the columns of the rows
    known, known_count : of those of the model
    """
    if names is not None and known is not None and tuple(names) != tuple(known):
        new, missing = sorted(set(names) - set(known)), sorted(set(known) - set(names))
        message = "The feature names should match those that were passed during fit.\n"
        if new:
            message += f"Feature names unseen at fit time:\n{_listed(new)}"
        if missing:
            message += f"Feature names seen at fit time, yet now missing:\n{_listed(missing)}"
        if not new and not missing:
            message += "Feature names must be in the same order as they were in fit.\n"
        raise ValueError(f"{message}The model learned from {_short(known)}.")
    if count != known_count:
        raise ValueError(
            f"X has {count} features, but GaussianNeurons is expecting {known_count} features as input."
        )
    if known is not None and names is None:
        warn(
            f"X does not have valid feature names, but the model has: {_short(known)}. Columns are "
            f"matched by position.",
        )
    elif known is None and names is not None:
        warn(
            "X has feature names, but the model learned from rows without names. Columns are matched by "
            "position.",
        )


def _short(names: Sequence[str]) -> str:
    return ", ".join(names[:SHOWN]) + (", ..." if len(names) > SHOWN else "")


def _listed(names: Iterable[str]) -> str:
    lines = [f"- {name}\n" for name in names]
    return "".join(lines[:SHOWN]) + ("- ...\n" if len(lines) > SHOWN else "")
