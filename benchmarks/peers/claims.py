"""Claims about speed, and whether a run supports them."""

from collections.abc import Callable
from dataclasses import dataclass
from statistics import median

from benchmarks.peers.growth import slopes, worst_step
from benchmarks.peers.results import OURS, Results, System
from benchmarks.peers.workloads import PAPER

TIMES = 30
SHARES = ((16, 25, 0.40), (256, 128, 0.50))  # K, D, and the smallest share of the peak
NOISE = 1.1  # tolerance of a single step of growth
IMPORT_SECONDS = 0.5
MINI_BATCH = "sklearn-minibatch-1024"
INSTRUCTION_SETS = ("baseline", "avx2", "avx512")  # from narrow to wide


@dataclass(frozen=True)
class Claim:
    """A sentence, the measured figure, and whether it holds: None if nothing was measured."""

    text: str
    figure: str
    holds: bool | None

    @property
    def verdict(self) -> str:
        """The result in a word."""
        return "not measured" if self.holds is None else "yes" if self.holds else "NO"


def claims(results: Results) -> list[Claim]:
    """All claims."""
    return [
        nearest(results, "all peers that learn one sample at a time", _one_at_a_time, TIMES),
        nearest(results, "all other implementations of the rule", lambda system: system.kind == "rule", 1),
        mini_batches(results),
        *(share(results, *each) for each in SHARES),
        *exponents(results),
        step(results),
        imports(results),
    ]


def _one_at_a_time(system: System) -> bool:
    return system.kind == "peer" and system.per_sample


def ratio(results: Results, key: str, workload: str) -> float | None:
    """The time per sample of a system, divided by ours."""
    theirs, ours = results.microseconds(key, workload), results.microseconds(OURS, workload)
    return median(theirs) / median(ours) if theirs and ours else None


def nearest(results: Results, group: str, belongs: Callable[[System], bool], times: int) -> Claim:
    """Our speed compared with the fastest system of a group."""
    text = f"{f'at least {times} times ' if times > 1 else ''}faster than {group}, {PAPER}"
    found = {key: ratio(results, key, PAPER) for key, system in results.systems.items() if belongs(system)}
    ratios = {key: value for key, value in found.items() if value is not None}
    if not ratios:
        return Claim(text, "", None)
    key = min(ratios, key=lambda each: ratios[each])
    return Claim(text, f"{ratios[key]:.1f} times {results.systems[key].name}", ratios[key] >= times)


def mini_batches(results: Results) -> Claim:
    """Our speed compared with the fastest method of scikit-learn."""
    text = f"one sample at a time faster than MiniBatchKMeans with 1024 rows per call, {PAPER}"
    found = ratio(results, MINI_BATCH, PAPER)
    return Claim(text, "" if found is None else f"{found:.2f} times", None if found is None else found > 1)


def share(results: Results, K: int, D: int, least: float) -> Claim:
    """The share of the peak that the multiply-adds of the equations reach."""
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
    found = median(
        kernel.needed / kernel.seconds / kernel.peak for kernel in of_size if kernel.instruction_set == widest
    )
    return Claim(text, f"{found:.0%}, {widest}", found >= least)


def exponents(results: Results) -> list[Claim]:
    """The growth of the time per sample with K and D."""
    found = slopes(results).get(OURS, {})
    made = []
    for letter, most in (("K", 2), ("D", 1)):
        slope = found.get(letter)
        text = f"the time per sample grows no faster than {letter}{'²' if most == 2 else ''}"
        figure = "" if slope is None else f"{letter}^{slope:.2f}"
        made.append(Claim(text, figure, None if slope is None else round(slope, 2) <= most))
    return made


def step(results: Results) -> Claim:
    """The largest growth from one size to the next."""
    text = f"no step of K or D costs more than {NOISE:g} times the growth of K² D"
    worst = worst_step(results, OURS)
    if worst is None:
        return Claim(text, "", None)
    (K, D), (more_K, more_D) = worst.begin, worst.end
    step_text = f"K = {K} to {more_K}, D = {D}" if more_K != K else f"D = {D} to {more_D}, K = {K}"
    return Claim(text, f"{worst.beyond:.2f} times, {step_text}", worst.beyond <= NOISE)


def imports(results: Results) -> Claim:
    """The import time without that of the dependencies."""
    text = f"the import takes less than {IMPORT_SECONDS} s more than NumPy and scikit-learn"
    added = [each.seconds - each.base for each in results.imports if each.system == OURS]
    if not added:
        return Claim(text, "", None)
    return Claim(text, f"{median(added):.2f} s", median(added) < IMPORT_SECONDS)
