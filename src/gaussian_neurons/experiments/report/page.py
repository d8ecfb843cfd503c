"""report.html: the whole report in one file without external resources."""

import base64
import io
import re
from collections.abc import Mapping, Sequence
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any

from gaussian_neurons.base.files import replace_file
from gaussian_neurons.experiments.catalogue import ALL, select
from gaussian_neurons.experiments.catalogue import BEYOND as BEYOND_GROUP
from gaussian_neurons.experiments.experiment import Result
from gaussian_neurons.experiments.pictures import thumbnail
from gaussian_neurons.experiments.report.origin import FOOTNOTE, Origin
from gaussian_neurons.experiments.report.strip import strip
from gaussian_neurons.experiments.report.summary import Spread, Summary, format_seeds, goes_beyond
from gaussian_neurons.plotting import INK

WIDE = 25  # largest number of neurons for a narrow small picture
REPRODUCED = """{scope} of O. C. Eidheim, <em>Revisiting Gaussian Neurons for Online Clustering with Unknown
Number of Clusters</em>, compared with results of this library. The paper shows one seed of each figure, and
what is learned depends on the seed: the question is how many of our seeds reach what the paper shows."""
BEYOND = "Experiments on what the paper leaves to future work. Published numbers are those of other methods."


def write(path: Path, summaries: Sequence[Summary], origin: Origin) -> None:
    """Write the page, with the pictures from its folder."""
    replace_file(path, page(summaries, origin, path.parent).encode())


def page(summaries: Sequence[Summary], origin: Origin, folder: Path) -> str:
    """The page as text."""
    style = (files("gaussian_neurons.experiments.report") / "page.css").read_text(encoding="utf-8")
    sections = "\n".join(_section(summary, folder) for summary in summaries)
    title = "Gaussian Neurons, " + ("beyond the paper" if goes_beyond(summaries) else "reproduced")
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<link rel="icon" href="data:,">
<style>
{style}</style>
</head>
<body>
<header>
<h1>{title}</h1>
<p>{BEYOND if goes_beyond(summaries) else REPRODUCED.format(scope=_scope(summaries))}</p>
<nav aria-label="Experiments">{_overview(summaries)}</nav>
{"".join(f'<p class="note">{escape(text)}</p>' for text in origin.warnings)}
{_facts(origin.facts)}
{_not_run(summaries)}
<details><summary>How to read this report</summary><p class="muted">{FOOTNOTE}</p></details>
</header>
<main>
{sections}
</main>
</body>
</html>
"""


def _scope(summaries: Sequence[Summary]) -> str:
    there = [summary for summary in summaries if not summary.experiment.beyond]
    if len(there) == len(select([])):
        return "Every figure and table"
    return f"{len(there)} of the {len(select([]))} figures, tables and claims"


def _not_run(summaries: Sequence[Summary]) -> str:
    there = {summary.experiment.name for summary in summaries}
    group = BEYOND_GROUP if goes_beyond(summaries) else ALL
    absent = [experiment.name for experiment in select([group]) if experiment.name not in there]
    return f'<p class="muted">Not run: {", ".join(absent)}.</p>' if absent else ""


def _overview(summaries: Sequence[Summary]) -> str:
    ours = "ours" if goes_beyond(summaries) else "our seeds that reach it"
    names = ("", "published", ours, "one seed", "claims")
    head = "".join(f'<th scope="col">{text}</th>' for text in names)
    rows = "".join(_line(summary) for summary in summaries)
    return f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>'


def _line(summary: Summary) -> str:
    name, (published, reached) = summary.experiment.name, summary.headline
    picture = f'<img src="{_png(summary.first)}" alt="{heading(name)}">' if "centers" in summary.first else ""
    chips = " ".join(
        f'<span class="chip {support.name}">{count} {support.value}</span>'
        for support, count in summary.support.items()
    )
    return (
        f'<tr><th scope="row"><a href="#{name}">{heading(name)}</a></th><td>{escape(published)}</td>'
        f"<td>{escape(reached)}</td><td>{picture}</td><td>{chips}</td></tr>"
    )


def _section(summary: Summary, folder: Path) -> str:
    name = summary.experiment.name
    return f"""<section id="{name}">
<h2>{heading(name)} <small>{escape(summary.experiment.title)}</small></h2>
{_picture(summary, folder)}
{f"<p>{escape(summary.experiment.note)}</p>" if summary.experiment.note else ""}
{_numbers(summary.spreads, summary.published_by)}
{_claims(summary)}
{_small_pictures(summary)}
{_details(summary)}
</section>"""


def heading(name: str) -> str:
    """figure2a → Figure 2a, cifar10-readout → CIFAR-10 readout."""
    words = re.sub(r"^(figure|table)", r"\1 ", name).replace("-", " ").capitalize()
    return words.replace("Mnist", "MNIST").replace("Cifar10", "CIFAR-10")


def _picture(summary: Summary, folder: Path) -> str:
    name = summary.experiment.name
    svg = inline((folder / name / f"{name}.svg").read_text(encoding="utf-8"), name, summary.experiment.title)
    return f"<figure>{svg}</figure>"


def inline(svg: str, name: str, title: str) -> str:
    """An SVG file as part of a page, with unique ids and the text colour of the page."""
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = re.sub(r'\bid="', f'id="{name}-', svg)
    svg = re.sub(r"url\(#", f"url(#{name}-", svg)
    svg = re.sub(r'href="#', f'href="#{name}-', svg)
    svg = svg.replace(INK, "currentColor")
    return svg.replace("<svg ", f'<svg role="img" aria-label="{escape(title)}" ', 1)


def _numbers(spreads: Sequence[Spread], published_by: str) -> str:
    rows = "".join(
        f'<tr><th scope="row">{escape(spread.quantity.label)}</th>'
        f'<td data-label="{published_by}">{spread.published}</td><td data-label="ours">{spread.ours}</td>'
        f'<td class="strip">{strip(spread)}</td><td class="position">{escape(spread.reached)}</td></tr>'
        for spread in spreads
    )
    head = "".join(f'<th scope="col">{text}</th>' for text in ("", published_by, "ours", "", ""))
    return f'<table class="numbers"><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>'


def _claims(summary: Summary) -> str:
    items = "".join(
        f'<li class="{verdict.support.name}">{escape(verdict.claim.text)} '
        f'<span class="muted">{verdict.how_often}</span></li>'
        for verdict in summary.verdicts
    )
    if not items:
        return ""
    missing = ""
    if summary.missing:
        names = ", ".join(summary.missing)
        missing = f'<p class="muted">Run {names} with the same seed to test all claims.</p>'
    return f'<ul class="claims">{items}</ul>{missing}'


def _small_pictures(summary: Summary) -> str:
    """A small picture of each seed."""
    if len(summary.results) < 2 or "centers" not in summary.first:
        return ""
    wide = " wide" if len(summary.first["centers"]) > WIDE else ""
    pictures = "".join(
        f'<figure><img src="{_png(result)}" alt="filters of seed {seed}">'
        f"<figcaption>seed {seed}: {result['learned']}</figcaption></figure>"
        for seed, result in summary.results.items()
    )
    title = "All seeds, with the number of learned filters"
    return f'<details><summary>{title}</summary><div class="seeds{wide}">{pictures}</div></details>'


def _png(result: Result) -> str:
    from matplotlib.image import imsave

    buffer = io.BytesIO()
    imsave(buffer, thumbnail(result), format="png")
    return "data:image/png;base64," + base64.b64encode(buffer.getvalue()).decode()


def _details(summary: Summary) -> str:
    first, name, seeds = summary.first, summary.experiment.name, [s for s in summary.results if s is not None]
    facts: dict[str, Any] = {"settings": ", ".join(f"{k} = {_plain(v)}" for k, v in first["config"].items())}
    if first["data"] is not None:
        facts["data"] = _describe_data(first["data"])
        facts["seeds"] = format_seeds(seeds)
    if first["backend"] is not None:
        facts["backend"] = first["backend"]
    if speed := first["samples_per_second"]:
        facts["time"] = (
            f"{sum(summary.seconds):.1f} s of learning in total; seed {first['seed']} learned "
            f"{speed / 1e6:.2f} million samples a second, while other runs shared the machine"
        )
    of_seeds = {f"seed {seed}": f"{name}/seed-{seed}.json" for seed in seeds} or {
        "JSON": f"{name}/result.json"
    }
    links = {"PNG": f"{name}/{name}.png", "SVG": f"{name}/{name}.svg", **of_seeds}
    files_ = " ".join(f'<a href="{target}">{text}</a>' for text, target in links.items())
    return f"<details><summary>Settings, time, files</summary>{_facts(facts)}<p>{files_}</p></details>"


def _plain(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def _describe_data(data: Mapping[str, Any]) -> str:
    count, *shape = data["images"]
    size = " × ".join(map(str, shape))
    return f"{data['name']}, {count:,} images of {size}, SHA-256 {data['sha256']}"


def _facts(facts: Mapping[str, Any]) -> str:
    rows = "".join(f"<dt>{escape(name)}</dt><dd>{escape(str(value))}</dd>" for name, value in facts.items())
    return f"<dl>{rows}</dl>"
