"""Experiment: settings, a run, a picture, and what the paper reports."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from gaussian_neurons.experiments.lab import Lab

Result = dict[str, Any]  # the content of a result file

LEAST_SAMPLES = 2000  # of each part of a scaled run


@dataclass(frozen=True)
class Quantity:
    """A number of a result, to compare with the paper's."""

    label: str
    of: Callable[[Result], float | None]
    published: float | None = None
    digits: int = 0


@dataclass(frozen=True)
class Claim:
    """A statement of the paper, and a test of it.

    `holds` returns one truth value for each case in a result. Most claims have one case. There is none if the
    result cannot decide the claim.
    """

    text: str
    holds: Callable[[Result], Sequence[bool]]


@dataclass(frozen=True)
class Experiment:
    """One figure, subfigure or table of the paper, an extension of one, or an experiment beyond the paper."""

    name: str
    title: str
    config: Any  # its settings, a dataclass
    run: Callable[[Any, int, "Lab"], Result]
    draw: Callable[[Result], "Figure"]  # of one seed
    data: str | None  # a name in data.SETS, or None if it needs no images
    seconds: float  # expected on one core with AVX-512, at the paper's N
    samples: int  # total number of samples, approximately
    prints: str  # the paper's result, in a few characters
    published: Mapping[str, Any]
    seeds: int = 64  # for the report
    draw_seeds: Callable[[Sequence[Result]], "Figure"] | None = None  # of all seeds, in place of `draw`
    note: str = ""  # for readers of the report
    quantities: tuple[Quantity, ...] = ()
    claims: tuple[Claim, ...] = ()
    compare: Callable[[Result, Mapping[str, Result]], Result] | None = None
    compares_with: tuple[str, ...] = ()
    beyond: bool = False  # it belongs to the group "beyond" instead of "all"
    is_random: bool = True  # False: it has one result, without a seed
    needs: Mapping[str, str] = field(default_factory=dict)  # package -> the extra that installs it

    @property
    def absent(self) -> list[str]:
        """The extras to install before it can run."""
        return sorted({extra for package, extra in self.needs.items() if find_spec(package) is None})

    def scaled(self, scale: float) -> Any:
        """The settings with the given fraction of the paper's samples."""
        names = [field.name for field in fields(self.config) if field.name.startswith("n_samples")]
        if scale == 1 or not names:
            return self.config
        counts = {name: getattr(self.config, name) for name in names}
        factor = max(scale, LEAST_SAMPLES / min(counts.values()))  # one for all counts keeps their ratios
        return replace(self.config, **{name: round(count * factor) for name, count in counts.items()})


def comparison(result: Result, name: str) -> Any:
    """A value of the comparison with other results, or None if there was no comparison."""
    return result.get("compared", {}).get(name)


def n_learned(published: int | None = None) -> Quantity:
    """The number of learned filters."""
    return Quantity("learned filters", lambda result: result["learned"], published)
