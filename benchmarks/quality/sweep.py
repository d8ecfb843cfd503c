"""All systems on all sets, in turns, so that disturbances affect all systems alike."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from benchmarks.quality import measure
from benchmarks.quality.results import Origin, Results, scored
from benchmarks.quality.sets import LabelledSet
from benchmarks.quality.systems import System, Task

Turn = tuple[str, LabelledSet, int, Origin]


def turns(systems: Mapping[str, System], data: LabelledSet, seeds: int, limit: float) -> Iterator[Turn]:
    """Each seed of each system; systems without seeds have one turn."""
    for seed in range(seeds):
        for key, system in systems.items():
            if seed == 0 or system.seeded:
                yield key, data, seed, Origin.of(system, data, limit)


def missing(
    results: Results,
    systems: Mapping[str, System],
    sets: Sequence[LabelledSet],
    seeds: int,
    limit: float,
    ours_too: bool,
    again: bool,
) -> list[Turn]:
    """The turns without a stored result; all turns if `again`."""
    return [
        turn
        for data in sets
        for turn in turns(systems, data, seeds, limit)
        if again or not results.has(*turn, ours_too=ours_too)
    ]


def take(turn: Turn, results: Results) -> None:
    """Run one turn and store the result.

    A system that failed with the first seed is not run with the others: it counts as failed.
    """
    key, data, seed, origin = turn
    first = results.runs.get((data.name, key, 0))
    if seed > 0 and first is not None and first.failed and first.origin == origin:
        results.add(replace(first, seed=seed))
        return
    task = Task(data.x.shape[1], data.clusters, seed, data.shape)
    outcome = measure.run(key, task, data.x, data.presentations, origin.limit)
    results.add(scored(key, data, seed, outcome, origin))
