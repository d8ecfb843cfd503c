"""The demo: Figure 2a on bundled digits, without a download."""

from typing import TYPE_CHECKING

from gaussian_neurons.datasets import ImageSet
from gaussian_neurons.experiments import figure2a, pictures, results
from gaussian_neurons.experiments.experiment import Result

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def run(seed: int, data: ImageSet) -> Result:
    """Learn from random patches, one at a time."""
    return results.run_experiment(figure2a.EXPERIMENT, figure2a.Config(), seed, data)


def draw(result: Result) -> "Figure":
    """The picture of a result."""
    count = len(result["centers"])
    title = (
        f"{count} neurons after {result['samples']:,} patches of 5 x 5\n"
        f"{result['learned']} learned (framed), {count - result['learned']} pushed out of the domain"
    )
    return pictures.draw_panels(result, [pictures.Panel(title, result)])


def rows(result: Result) -> list[list[str]]:
    """The paper's Table 1 for these neurons: each row is a heading, then a cell for each neuron."""
    return [
        ["neuron", *(str(k + 1) for k in range(len(result["centers"])))],
        ["learned", *("*" if it else "" for it in result["is_learned"])],
        ["d", *(f"{d:.1f}" for d in result["domain_distance"])],
        ["cos", *(f"{c:.1f}" for c in result["cosine"])],
    ]
