"""The origin of a whole report: data, seeds, backend, machine, commit."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from gaussian_neurons.experiments.data import SAMPLE
from gaussian_neurons.experiments.report.summary import Summary, format_seeds

SAMPLE_WARNING = (
    "These are not the paper's data. The MNIST experiments ran on 5,000 bundled digits, the colour "
    "experiments on two bundled photographs. The numbers differ from the paper's, most of all in colour."
)
SCALE_WARNING = (
    "This is a scaled run with {scale:g} of the paper's samples. Patterns that need more samples are not "
    "learned yet, so the numbers differ from the paper's."
)
BATCHES_WARNING = (
    "The colour experiments ran on {count:,} of CIFAR-10's 50,000 training images, because the other "
    "batches were missing."
)
FOOTNOTE = (
    "Our numbers are medians over the seeds, with the range. Seeds reach a published number if theirs is "
    "equal, rounded as in the paper; intervals are 95 % confidence intervals (Wilson). In the strip "
    "plots, each dot is a seed and the line is the paper's number. A claim mostly holds if it holds in at "
    "least three of four cases; it sometimes holds if it holds in at least one of four. A case is a seed, "
    "a filter or a pair of filters. A filter is the center of a neuron, drawn as a patch. A framed filter "
    "is learned: recent samples are close to it, or earlier ones were and it has not moved since. Filters "
    "with equal centers count once. The distance of two filters is the root mean square difference of "
    "their pixels, with black at 0 and white at 1. Filters within 0.2 count as the same. Blue pixels are "
    "below 0, red pixels above 1; dots mark such pixels in colour filters."
)


@dataclass(frozen=True)
class Origin:
    """Facts and warnings at the top of a report."""

    facts: dict[str, Any]
    warnings: list[str]


def origin(summaries: Sequence[Summary], data: str, scale: float) -> Origin:
    """The origin of a report, collected from the results."""
    results = [result for summary in summaries for result in summary.results.values()]
    seeds = sorted({result["seed"] for result in results if result["seed"] is not None})
    sets = {result["data"]["sha256"]: result["data"] for result in results if result["data"] is not None}
    commits = sorted({str(result["code"]["commit"] or "unknown") for result in results})
    seconds = sum(result["seconds"] for result in results)
    machines = {_machine(result["machine"]) for result in results}
    names = [f"{images['name']}, {images['images'][0]:,} images" for images in sets.values()]
    facts = {
        "data": "; ".join(names) or "none",
        "seeds": format_seeds(seeds) or "none",
        "backend": ", ".join(sorted({result["backend"] for result in results} - {None})) or "none",
        "learning": f"{format_duration(seconds)} in total",
        "machine": "; ".join(sorted(machines)),
        "code": f"version {results[0]['code']['version']}, commit {'; '.join(commits)}" if results else "",
    }
    warnings = [SAMPLE_WARNING] if data == SAMPLE else []
    warnings += [
        BATCHES_WARNING.format(count=training_images(images))
        for images in sets.values()
        if images["name"].startswith("CIFAR-10") and training_images(images) < 50_000
    ]
    warnings += [SCALE_WARNING.format(scale=scale)] if scale != 1 else []
    return Origin(facts, warnings)


def training_images(images: dict[str, Any]) -> int:
    """How many images of CIFAR-10 are not its 10,000 for tests.

    Examples
    --------
    >>> training_images({"name": "CIFAR-10 train, 1 of 5 batches and test", "images": [20_000, 32, 32, 3]})
    10000
    """
    return int(images["images"][0]) - (10_000 if images["name"].endswith(" and test") else 0)


def _machine(machine: dict[str, Any]) -> str:
    return (
        f"{machine['processor']}, {machine['cores']} cores, {machine['instruction_set']}; {machine['system']}"
    )


def format_duration(seconds: float) -> str:
    """A duration in seconds or minutes."""
    return f"{seconds:.1f} s" if seconds < 90 else f"{seconds / 60:.1f} min"
