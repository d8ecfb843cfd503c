"""Ours beside the paper's: each number over the seeds, each claim with how often it holds."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from statistics import median

from gaussian_neurons.experiments.experiment import Claim, Experiment, Quantity, Result, compared

MOSTLY, PARTLY = 0.75, 0.25  # part of the cases in which a claim holds
LEGEND = "✓ in all cases, ≈ in three of four or more, ~ in one of four or more, ✗ in fewer, ? not tested"
MINUS = "\N{MINUS SIGN}"
Results = Mapping[int | None, Result]  # seed → result


@dataclass(frozen=True)
class Spread:
    """A quantity over the seeds."""

    quantity: Quantity
    values: dict[int | None, float]  # seed → value, where there is one
    seeds: int  # in all

    @property
    def published(self) -> str:
        """The paper's number, or a dash."""
        return "–" if self.quantity.published is None else self.shown(self.quantity.published)

    @property
    def ours(self) -> str:
        """The median and the range."""
        values = sorted(self.values.values())
        if not values:
            return "–"
        middle, low, high = self.shown(median(values)), self.shown(values[0]), self.shown(values[-1])
        some = "" if len(values) == self.seeds else f", in {len(values)} of {self.seeds} seeds"
        return (middle if low == high else f"{middle} ({low} to {high})") + some

    @property
    def place(self) -> str:
        """Where the published number falls among ours."""
        published = self.quantity.published
        if published is None or not self.values:
            return ""
        wanted = round(published, self.quantity.digits)
        ours = [round(value, self.quantity.digits) for value in self.values.values()]
        equal, below = ours.count(wanted), sum(value < wanted for value in ours)
        if len(ours) == 1:
            return "the same" if equal else "differs"
        if equal == len(ours):
            return f"the same in all {len(ours)}"
        if below == len(ours) or (not equal and not below):
            return f"the paper is {'above' if below else 'below'} all {len(ours)}"
        return f"ours: {below} below it, {equal} equal, {len(ours) - below - equal} above"

    def shown(self, value: float) -> str:
        """A number with as many digits as the paper gives; a median of counts may have a half."""
        whole = self.quantity.digits == 0 and value != int(value)
        rounded = round(value, 1 if whole else self.quantity.digits) + 0.0  # no minus before a zero
        return f"{rounded:.{1 if whole else self.quantity.digits}f}".replace("-", MINUS)


class Standing(StrEnum):
    """How claims fare: in all cases, in three of four, in one of four, in fewer, or there are none."""

    holds = "hold"
    mostly = "hold mostly"
    partly = "hold at times"
    seldom = "not borne out"
    unknown = "not tested"

    @property
    def mark(self) -> str:
        """As one sign."""
        return {"holds": "✓", "mostly": "≈", "partly": "~", "seldom": "✗", "unknown": "?"}[self.name]


@dataclass(frozen=True)
class Verdict:
    """A claim over the seeds."""

    claim: Claim
    held: int
    tries: int
    seeds: int  # with at least one try
    of: int  # seeds in all

    @property
    def standing(self) -> Standing:
        """In one word."""
        if not self.tries:
            return Standing.unknown
        if self.held == self.tries:
            return Standing.holds
        part = self.held / self.tries
        return Standing.mostly if part >= MOSTLY else Standing.partly if part >= PARTLY else Standing.seldom

    @property
    def how_often(self) -> str:
        """In a few words."""
        if not self.tries:
            return "not tested by these results"
        if self.tries == self.of == 1:
            return "holds" if self.held else "does not hold"
        if self.tries == self.seeds:
            what, over = "seeds", ""
        else:
            what, over = "cases", f" over {self.seeds} seeds" if self.seeds > 1 else ""
        rest = "" if self.seeds == self.of else f"; {self.of - self.seeds} of {self.of} seeds do not tell"
        return f"holds in {self.held} of {self.tries} {what}{over}{rest}"


@dataclass(frozen=True)
class Summary:
    """One experiment over the seeds."""

    experiment: Experiment
    results: Results

    @property
    def first(self) -> Result:
        """The result that is shown."""
        return next(iter(self.results.values()))

    @property
    def spreads(self) -> list[Spread]:
        """Its numbers."""
        found = []
        for quantity in self.experiment.quantities:
            values = {seed: quantity.of(result) for seed, result in self.results.items()}
            known = {seed: value for seed, value in values.items() if value is not None}
            found.append(Spread(quantity, known, len(values)))
        return found

    @property
    def verdicts(self) -> list[Verdict]:
        """What the paper says about it."""
        found = []
        for claim in self.experiment.claims:
            tries = [list(claim.holds(result)) for result in self.results.values()]
            held = sum(map(sum, tries))
            found.append(Verdict(claim, held, sum(map(len, tries)), sum(map(bool, tries)), len(tries)))
        return found

    @property
    def standings(self) -> dict[Standing, int]:
        """How many claims fare how."""
        counts = {standing: sum(it.standing == standing for it in self.verdicts) for standing in Standing}
        return {standing: count for standing, count in counts.items() if count}

    @property
    def marks(self) -> str:
        """How its claims fare, one sign for each."""
        return "".join(verdict.standing.mark for verdict in self.verdicts)

    @property
    def missing(self) -> list[str]:
        """Experiments that none of its seeds could be compared with."""
        done = {name for result in self.results.values() for name in compared(result, "with") or []}
        return [name for name in self.experiment.compares_with if name not in done]

    def as_json(self) -> Result:
        """The same for programs."""
        return {
            "experiment": self.experiment.name,
            "title": self.experiment.title,
            "quantities": [
                {"label": it.quantity.label, "published": it.quantity.published, "ours": it.values}
                for it in self.spreads
            ],
            "claims": [
                {"text": it.claim.text, "held": it.held, "cases": it.tries, "seeds": it.seeds}
                for it in self.verdicts
            ],
        }

    @property
    def seconds(self) -> list[float]:
        """What each seed took."""
        return [result["seconds"] for result in self.results.values()]


def seeds_in_words(seeds: list[int]) -> str:
    """Seeds, short.

    Examples
    --------
    >>> seeds_in_words([0, 1, 2, 5])
    '0–2, 5'
    """
    runs: list[list[int]] = []
    for seed in sorted(seeds):
        if runs and seed == runs[-1][-1] + 1:
            runs[-1].append(seed)
        else:
            runs.append([seed])
    return ", ".join(str(run[0]) if len(run) == 1 else f"{run[0]}–{run[-1]}" for run in runs)
