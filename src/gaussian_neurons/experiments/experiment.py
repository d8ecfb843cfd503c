"""What an experiment is: settings, a run, a picture, and what the paper says about it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from gaussian_neurons.experiments.lab import Lab

Result = dict[str, Any]  # what a run found out, as JSON has it

LEAST_SAMPLES = 2000  # of any part of a run that is scaled down


@dataclass(frozen=True)
class Quantity:
    """A number of a result, beside the paper's."""

    label: str
    of: Callable[[Result], float | None]
    published: float | None = None
    digits: int = 0


@dataclass(frozen=True)
class Claim:
    """What the paper says, and how to see it in a result.

    `holds` answers with one truth for each try that the result holds: one for most claims, none where the
    result cannot tell.
    """

    text: str
    holds: Callable[[Result], Sequence[bool]]


@dataclass(frozen=True)
class Experiment:
    """One figure, subfigure or table of the paper."""

    name: str
    title: str
    config: Any  # its settings, a dataclass
    run: Callable[[Any, int, "Lab"], Result]
    draw: Callable[[Result], "Figure"]
    data: str | None  # "mnist", "cifar10", or None: it needs no data and no seed
    seconds: float  # expected on one core with AVX-512, at the paper's N
    samples: int  # learned from in all, about
    prints: str  # what the paper gives, in a word or two
    published: Mapping[str, Any]
    note: str = ""  # what a reader of the report should know besides
    quantities: tuple[Quantity, ...] = ()
    claims: tuple[Claim, ...] = ()
    compare: Callable[[Result, Mapping[str, Result]], Result] | None = None
    compares_with: tuple[str, ...] = ()

    def scaled(self, scale: float) -> Any:
        """The settings with so much of the paper's samples."""
        names = [field.name for field in fields(self.config) if field.name.startswith("n_samples")]
        if scale == 1 or not names:
            return self.config
        counts = {name: getattr(self.config, name) for name in names}
        part = max(scale, LEAST_SAMPLES / min(counts.values()))  # one for all, which keeps their ratios
        return replace(self.config, **{name: round(count * part) for name, count in counts.items()})


def compared(result: Result, name: str) -> Any:
    """What a comparison with other results told, or None where there was none."""
    return result.get("compared", {}).get(name)


def learned(published: int | None = None) -> Quantity:
    """How many filters were learned."""
    return Quantity("filters learned", lambda result: result["learned"], published)
