"""Where a whole report comes from: data, seeds, machine, commit."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from gaussian_neurons.experiments.data import SAMPLE
from gaussian_neurons.experiments.report.summary import Summary, seeds_in_words

OF_SAMPLES = (
    "These are not the paper's data: the MNIST experiments ran on 5,000 bundled digits, the colour "
    "experiments on two bundled photographs. Expect other numbers, in colour above all."
)
OF_SCALE = (
    "Scaled down: {part:g} of the paper's samples. What takes long to learn is not learned yet, so the "
    "numbers are not the paper's."
)
OF_BATCHES = "The colour experiments ran on {there:,} of CIFAR-10's 50,000 training images: what was there."
FOOTNOTE = (
    "Numbers of ours are medians over the seeds, with the range; in the strips, each dot is a seed and "
    "the line is the paper. A claim holds mostly in three of four cases or more, at times in one of four "
    "or more, else it is not borne out; a case may be a seed, a filter or a pair of them. A filter is a "
    "neuron's center, drawn as a patch. It counts as learned, and is framed, where recent samples hold "
    "it, or held it before and it has not left since; of filters at equal places one counts. How far "
    "filters are apart is the root mean square over their pixels, from black at 0 to white at 1; up to "
    "0.2 they pass for alike. Blue is below 0 and red above 1; in colour, dots mark such pixels."
)


@dataclass(frozen=True)
class Origin:
    """What the reader of a report needs to know first."""

    facts: dict[str, Any]
    warnings: list[str]


def origin(summaries: Sequence[Summary], choice: str, scale: float) -> Origin:
    """Gather it from results."""
    results = [result for summary in summaries for result in summary.results.values()]
    seeds = sorted({result["seed"] for result in results if result["seed"] is not None})
    sets = {result["data"]["sha256"]: result["data"] for result in results if result["data"] is not None}
    commits = sorted({str(result["code"]["commit"] or "not known") for result in results})
    learning = sum(result["seconds"] for result in results)
    machines = {_machine(result["machine"]) for result in results}
    facts = {
        "data": "; ".join(f"{data['name']}, {data['images'][0]:,} images" for data in sets.values())
        or "none",
        "seeds": seeds_in_words(seeds) or "none",
        "learning": f"{in_words(learning)}, all runs together",
        "machine": "; ".join(sorted(machines)),
        "code": f"version {results[0]['code']['version']}, commit {'; '.join(commits)}" if results else "",
    }
    warnings = [OF_SAMPLES] if choice == SAMPLE else []
    warnings += [
        OF_BATCHES.format(there=data["images"][0])
        for data in sets.values()
        if data["name"].startswith("CIFAR-10") and data["images"][0] < 50_000
    ]
    warnings += [OF_SCALE.format(part=scale)] if scale != 1 else []
    return Origin(facts, warnings)


def _machine(machine: dict[str, Any]) -> str:
    return (
        f"{machine['processor']}, {machine['cores']} cores, {machine['instruction_set']}; {machine['system']}"
    )


def in_words(seconds: float) -> str:
    """A time."""
    return f"{seconds:.1f} s" if seconds < 90 else f"{seconds / 60:.1f} min"
