"""What is said about speed, and whether a run bears it out."""

from collections.abc import Callable
from dataclasses import dataclass
from statistics import median

from benchmarks.peers.growth import slopes, worst_step
from benchmarks.peers.results import OURS, Results, System
from benchmarks.peers.workloads import PAPER

TIMES = 30
SHARES = ((16, 25, 0.40), (256, 128, 0.50))  # K, D, and the least part of the peak
NOISE = 1.1  # by which a single step may exceed what it is held against
IMPORT_SECONDS = 0.5
MINI_BATCH = "sklearn-minibatch-1024"
INSTRUCTION_SETS = ("baseline", "avx2", "avx512")  # narrow to wide


@dataclass(frozen=True)
class Claim:
    """A sentence, the figure that was measured, and whether it holds: None where nothing was measured."""

    text: str
    figure: str
    holds: bool | None

    @property
    def verdict(self) -> str:
        """In a word."""
        return "not measured" if self.holds is None else "yes" if self.holds else "NO"


def claims(results: Results) -> list[Claim]:
    """All of them."""
    return [
        nearest(results, "every peer that learns one sample at a time", _one_at_a_time, TIMES),
        nearest(results, "every other writing of the same rule", lambda system: system.kind == "rule", 1),
        beside_mini_batches(results),
        *(share(results, *each) for each in SHARES),
        *exponents(results),
        step(results),
        imports(results),
    ]


def _one_at_a_time(system: System) -> bool:
    return system.kind == "peer" and system.per_sample


def ratio(results: Results, key: str, workload: str) -> float | None:
    """How many times ours another system's time for a sample is."""
    theirs, ours = results.microseconds(key, workload), results.microseconds(OURS, workload)
    return median(theirs) / median(ours) if theirs and ours else None


def nearest(results: Results, who: str, of: Callable[[System], bool], times: int) -> Claim:
    """Ours beside the fastest of some systems."""
    text = f"{f'at least {times} times ' if times > 1 else ''}faster than {who}, {PAPER}"
    found = {key: ratio(results, key, PAPER) for key, system in results.systems.items() if of(system)}
    ratios = {key: value for key, value in found.items() if value is not None}
    if not ratios:
        return Claim(text, "", None)
    key = min(ratios, key=lambda each: ratios[each])
    return Claim(text, f"{ratios[key]:.1f} times {results.systems[key].name}", ratios[key] >= times)


def beside_mini_batches(results: Results) -> Claim:
    """The fastest way that scikit-learn has."""
    text = f"arrays one sample at a time faster than MiniBatchKMeans with 1024 rows in a call, {PAPER}"
    found = ratio(results, MINI_BATCH, PAPER)
    return Claim(text, "" if found is None else f"{found:.2f} times", None if found is None else found > 1)


def share(results: Results, K: int, D: int, least: float) -> Claim:
    """The part of the peak that the multiply-adds reach which the equations need."""
    text = f"at least {least:.0%} of the core's measured peak, K = {K}, D = {D}, float32"
    of_size = [
        kernel
        for kernel in results.kernels
        if (kernel.K, kernel.D, kernel.precision) == (K, D, "float32")
        and kernel.instruction_set in INSTRUCTION_SETS
    ]
    if not of_size:
        return Claim(text, "", None)
    widest = max((kernel.instruction_set for kernel in of_size), key=INSTRUCTION_SETS.index)
    part = median(
        kernel.needed / kernel.seconds / kernel.peak for kernel in of_size if kernel.instruction_set == widest
    )
    return Claim(text, f"{part:.0%}, {widest}", part >= least)


def exponents(results: Results) -> list[Claim]:
    """Time for a sample in K and in D."""
    found = slopes(results).get(OURS, {})
    made = []
    for letter, most in (("K", 2), ("D", 1)):
        slope = found.get(letter)
        text = f"time for a sample grows no faster than {letter}{'²' if most == 2 else ''}"
        figure = "" if slope is None else f"{letter}^{slope:.2f}"
        made.append(Claim(text, figure, None if slope is None else round(slope, 2) <= most))
    return made


def step(results: Results) -> Claim:
    """From one size to the next."""
    text = f"no step of K or D costs more than {NOISE:g} times what K² D grows by"
    worst = worst_step(results, OURS)
    if worst is None:
        return Claim(text, "", None)
    (K, D), (more_K, more_D) = worst.begin, worst.end
    where = f"K = {K} to {more_K}, D = {D}" if more_K != K else f"D = {D} to {more_D}, K = {K}"
    return Claim(text, f"{worst.beyond:.2f} times, {where}", worst.beyond <= NOISE)


def imports(results: Results) -> Claim:
    """Beyond what it stands on."""
    text = f"imports in less than {IMPORT_SECONDS} s beyond NumPy and scikit-learn"
    more = [each.seconds - each.base for each in results.imports if each.system == OURS]
    if not more:
        return Claim(text, "", None)
    return Claim(text, f"{median(more):.2f} s", median(more) < IMPORT_SECONDS)
