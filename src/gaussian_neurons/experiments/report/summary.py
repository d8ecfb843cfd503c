"""Ours and the paper's results: each number over the seeds, and how often each claim holds."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from statistics import median

from scipy.stats import binomtest

from gaussian_neurons.experiments.experiment import Claim, Experiment, Quantity, Result, comparison

MOSTLY, SOMETIMES = 0.75, 0.25  # least fraction of the cases
LEGEND = "✓ all cases, ≈ three of four or more, ~ one of four or more, ✗ fewer, ? not tested"
NONE = "–"
MINUS = "\N{MINUS SIGN}"
Results = Mapping[int | None, Result]  # seed → result


@dataclass(frozen=True)
class Share:
    """A share of the seeds, with its 95 % confidence interval (Wilson)."""

    held: int
    cases: int

    @property
    def interval(self) -> tuple[float, float]:
        """The ends of the interval."""
        ends = binomtest(self.held, self.cases).proportion_ci(0.95, "wilson")
        return float(ends.low), float(ends.high)

    @property
    def percentage(self) -> str:
        """The share alone."""
        return f"{100 * self.held / self.cases:.0f} %"

    def __str__(self) -> str:
        low, high = (f"{100 * end:.0f} %" for end in self.interval)
        return f"{self.percentage} ({low} to {high})"


@dataclass(frozen=True)
class Spread:
    """A quantity over the seeds."""

    quantity: Quantity
    values: dict[int | None, float]  # seed → value, for the seeds that have one
    seeds: int  # all seeds

    @property
    def published(self) -> str:
        """The paper's number, or a dash."""
        return NONE if self.quantity.published is None else self.format(self.quantity.published)

    @property
    def ours(self) -> str:
        """The median and the range."""
        values = sorted(self.values.values())
        if not values:
            return NONE
        middle, low, high = self.format(median(values)), self.format(values[0]), self.format(values[-1])
        seeds = "" if len(values) == self.seeds else f", in {len(values)} of {self.seeds} seeds"
        return (middle if low == high else f"{middle} ({low} to {high})") + seeds

    @property
    def share(self) -> Share | None:
        """The share of the seeds that have the paper's number; None if there is none to compare."""
        return self._share(lambda ours, paper: ours == paper)

    def _share(self, reaches: Callable[[float, float], bool]) -> Share | None:
        published, digits = self.quantity.published, self.quantity.digits
        if published is None or not self.values:
            return None
        paper = round(published, digits)
        return Share(sum(reaches(round(it, digits), paper) for it in self.values.values()), self.seeds)

    @property
    def reached(self) -> str:
        """How many seeds have the paper's number; of a count, also how many have it or more."""
        equal, more = self.share, self._share(lambda ours, paper: ours >= paper)
        if equal is None or more is None:
            return ""
        if self.seeds == 1:
            return "equal" if equal.held else "different"
        text = f"{equal} of {self.seeds} seeds"
        if self.quantity.digits == 0 and more.held > equal.held:
            text += f"; {self.published} or more: {more}"
        return text

    def format(self, value: float) -> str:
        """A number with as many digits as in the paper; the median of counts may end in .5."""
        half = self.quantity.digits == 0 and value != int(value)
        digits = 1 if half else self.quantity.digits
        return f"{round(value, digits) + 0.0:.{digits}f}".replace("-", MINUS)  # + 0.0 turns -0 into 0


class Support(StrEnum):
    """How often a claim holds."""

    always = "hold"
    mostly = "mostly hold"
    sometimes = "sometimes hold"
    rarely = "do not hold"
    untested = "not tested"

    @property
    def mark(self) -> str:
        """The symbol in tables."""
        return {"always": "✓", "mostly": "≈", "sometimes": "~", "rarely": "✗", "untested": "?"}[self.name]


@dataclass(frozen=True)
class Verdict:
    """A claim over the seeds."""

    claim: Claim
    held: int
    cases: int
    seeds: int  # with at least one case
    all_seeds: int

    @property
    def support(self) -> Support:
        """How often the claim holds, in one of five levels."""
        if not self.cases:
            return Support.untested
        fraction = self.held / self.cases
        if fraction == 1:
            return Support.always
        return (
            Support.mostly
            if fraction >= MOSTLY
            else Support.sometimes
            if fraction >= SOMETIMES
            else Support.rarely
        )

    @property
    def how_often(self) -> str:
        """How often the claim holds, in a few words."""
        if not self.cases:
            return "not tested by these results"
        if self.cases == self.all_seeds == 1:
            return "holds" if self.held else "does not hold"
        if self.cases == self.seeds:
            unit, over = "seeds", ""
        else:
            unit, over = "cases", f" over {self.seeds} seeds" if self.seeds > 1 else ""
        untested = self.all_seeds - self.seeds
        rest = f"; not tested by {untested} of {self.all_seeds} seeds" if untested else ""
        share = f": {Share(self.held, self.cases)}" if unit == "seeds" else ""
        return f"holds in {self.held} of {self.cases} {unit}{over}{share}{rest}"


@dataclass(frozen=True)
class Summary:
    """One experiment over the seeds."""

    experiment: Experiment
    results: Results

    @property
    def first(self) -> Result:
        """The result of the first seed, which is drawn."""
        return next(iter(self.results.values()))

    @property
    def spreads(self) -> list[Spread]:
        """The quantities over the seeds."""
        found = []
        for quantity in self.experiment.quantities:
            values = {seed: quantity.of(result) for seed, result in self.results.items()}
            known = {seed: value for seed, value in values.items() if value is not None}
            found.append(Spread(quantity, known, len(values)))
        return found

    @property
    def published_by(self) -> str:
        """The title of published numbers. Beyond the paper they are those of other methods."""
        return "published" if self.experiment.beyond else "the paper"

    @property
    def verdicts(self) -> list[Verdict]:
        """The claims over the seeds."""
        found = []
        for claim in self.experiment.claims:
            cases = [list(claim.holds(result)) for result in self.results.values()]
            held = sum(map(sum, cases))
            found.append(Verdict(claim, held, sum(map(len, cases)), sum(map(bool, cases)), len(cases)))
        return found

    @property
    def headline(self) -> tuple[str, str]:
        """What to read first: the paper's first number and how many seeds reach it, or the first claim.

        An extension has neither: then its first number. So has an experiment beyond the paper.
        """
        if self.experiment.beyond:
            return self.experiment.prints, f"{self.spreads[0].ours} {self.spreads[0].quantity.label}"
        for spread in self.spreads:
            if spread.published != NONE:
                return f"{spread.published} {spread.quantity.label}", spread.reached
        if not self.verdicts:
            return self.experiment.prints, f"{self.spreads[0].ours} {self.spreads[0].quantity.label}"
        verdict = self.verdicts[0]
        return verdict.claim.text, verdict.how_often

    @property
    def support(self) -> dict[Support, int]:
        """The number of claims at each level of support, without levels that have none."""
        levels = [verdict.support for verdict in self.verdicts]
        return {level: levels.count(level) for level in Support if level in levels}

    @property
    def marks(self) -> str:
        """A symbol for each claim."""
        return "".join(verdict.support.mark for verdict in self.verdicts)

    @property
    def missing(self) -> list[str]:
        """Experiments to compare with that have no result with the same seed."""
        done = {name for result in self.results.values() for name in comparison(result, "with") or []}
        return [name for name in self.experiment.compares_with if name not in done]

    @property
    def seconds(self) -> list[float]:
        """The seconds of learning of each seed."""
        return [result["seconds"] for result in self.results.values()]

    def as_json(self) -> Result:
        """The summary for programs."""
        return {
            "experiment": self.experiment.name,
            "title": self.experiment.title,
            "quantities": [
                {
                    "label": it.quantity.label,
                    "published": it.quantity.published,
                    "ours": it.values,
                    "reached": it.reached,
                }
                for it in self.spreads
            ],
            "claims": [
                {"text": it.claim.text, "held": it.held, "cases": it.cases, "seeds": it.seeds}
                for it in self.verdicts
            ],
        }


def goes_beyond(summaries: Sequence[Summary]) -> bool:
    """Whether all experiments are beyond the paper, so that a report is about them."""
    return bool(summaries) and all(summary.experiment.beyond for summary in summaries)


def format_seeds(seeds: list[int]) -> str:
    """Seeds with ranges.

    Examples
    --------
    >>> format_seeds([0, 1, 2, 5])
    '0–2, 5'
    """
    runs: list[list[int]] = []
    for seed in sorted(seeds):
        if runs and seed == runs[-1][-1] + 1:
            runs[-1].append(seed)
        else:
            runs.append([seed])
    return ", ".join(str(run[0]) if len(run) == 1 else f"{run[0]}–{run[-1]}" for run in runs)
