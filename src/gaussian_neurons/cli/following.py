"""The command follow: learn from a file that grows, and report what is new as JSON lines."""

import json
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer

from gaussian_neurons.cli.errors import handle_errors, print_message
from gaussian_neurons.cli.options import (
    MEMORY,
    Columns,
    Exclude,
    FalseAlarms,
    Header,
    Lines,
    OnBad,
    OnBadOption,
    ScaleOption,
    Standardize,
    scale_of,
)

if TYPE_CHECKING:
    from gaussian_neurons.clustering.numbering import Event
    from gaussian_neurons.model.run import Novel

MODEL = "Model"  # a panel of options
DIGITS = 6  # of a number that is computed
KINDS = "A CSV or JSON lines file that grows; - reads a pipe."
NOVEL = "Also print rows that are novel before they are learned."
CHECKPOINT = "The model and the position in DATA; resumes from it."
ROTATED = "Go on with the first row of a new DATA, instead of an error."
START = "Start with this model, written by fit."


@handle_errors("The printed lines are complete.")
def follow(
    data: Annotated[str, typer.Argument(metavar="DATA", help=KINDS, show_default=False)],
    checkpoint: Annotated[
        Path | None, typer.Option("--checkpoint", "-c", metavar="FILE", help=CHECKPOINT, show_default=False)
    ] = None,
    novel: Annotated[bool, typer.Option("--novel", help=NOVEL)] = False,
    false_alarms: FalseAlarms = 0.01,
    columns: Columns = None,
    exclude: Exclude = None,
    format: Annotated[
        Lines | None, typer.Option("--format", metavar="csv|jsonl", help="Of DATA.", show_default=False)
    ] = None,
    header: Header = None,
    on_bad: OnBadOption = OnBad.raise_,
    rotated: Annotated[bool, typer.Option("--rotated", help=ROTATED)] = False,
    neurons: Annotated[
        int | None,
        typer.Option(
            min=1, metavar="COUNT", help="The most clusters that can be found.", rich_help_panel=MODEL
        ),
    ] = None,
    memory: Annotated[
        int | None, typer.Option(min=1, metavar="COUNT", help=MEMORY, rich_help_panel=MODEL)
    ] = None,
    standardize: Standardize = False,
    scale: ScaleOption = None,
    seed: Annotated[
        int | None,
        typer.Option(
            min=0, metavar="NUMBER", help="The same seed gives the same model.", rich_help_panel=MODEL
        ),
    ] = None,
    model: Annotated[
        str | None, typer.Option(metavar="FILE", help=START, show_default=False, rich_help_panel=MODEL)
    ] = None,
) -> None:
    """Learn from the rows of DATA and from those that are appended, and print events.

    An event is a line of JSON: samples (rows learned so far), kind (born, moved,
    absent, returned or retired), cluster, center, share, evidence, reason; a
    novel row has score, threshold and row. The first 1,000 rows decide where
    clusters start; there are no lines before. Ctrl-C and SIGTERM
    end it. With --checkpoint, the same command goes on where it ended, and each
    row is learned once, also after kill -9; lines printed after the last
    checkpoint, at most a second before, are then printed again. The checkpoint
    is a model file for predict and info.

    \bExamples
      gaussian-neurons follow sensors.csv -c model.safetensors >> events.jsonl
      gaussian-neurons follow a.csv --novel --false-alarms 0.001 --scale robust
      program | gaussian-neurons follow - --format jsonl -c model.safetensors
    """
    from gaussian_neurons import GaussianNeurons
    from gaussian_neurons.cli import steps
    from gaussian_neurons.cli.reading import Data, several

    given: dict[str, Any] = {
        name: value
        for name, value in {
            "n_neurons": neurons,
            "memory": memory,
            "scale": scale_of(scale, standardize),
            "random_state": seed,
        }.items()
        if value is not None
    }
    if model is not None and given:
        raise ValueError("--model has its parameters already: omit --neurons, --memory, --scale and --seed.")
    if checkpoint is not None and any(_is_at(checkpoint, other) for other in (data, model)):
        raise ValueError(f"--checkpoint {str(checkpoint)!r} is also read otherwise. Choose another name.")
    learner = steps.load(model, data) if model is not None else GaussianNeurons(**{"random_state": 0} | given)
    known = list(getattr(learner, "feature_names_in_", []))
    with _stopped_by_signals() as stopped:
        source = Data(
            data,
            format,
            header,
            columns,
            exclude,
            on_bad is OnBad.skip,
            follow={"rotated": rotated, "stopped": stopped},
        )
        if not source.is_pipe and steps.is_model(data):
            raise ValueError(f"{data!r} is a model, not data. To start with it: follow DATA --model {data}")
        choose = None
        if model is not None:
            choose = lambda names: steps.match_columns(source, names, known, learner.n_features_in_)  # noqa: E731
        print_message("Following", f"{source.shown}. Ctrl-C ends.", "bold")
        try:
            opened = source.open(choose)
        except ValueError:
            if not stopped():
                raise
            print_message("Stopped", "before the first row.", "bold")
            return
        names = opened.stream.feature_names
        print_message("Learning", f"{len(opened.labels)} columns: {several(opened.labels)}.", "bold")
        learner.learn(
            opened.stream,
            progress=False,
            checkpoint=checkpoint,
            on_bad="skip" if source.skip else "raise",
            on_event=lambda event: _print(_event(event, names)),
            on_novel=(lambda row: _print(_novel(row, names))) if novel else None,
            false_alarms=false_alarms,
        )
    clusters = f"{learner.n_clusters_} cluster{'s' if learner.n_clusters_ != 1 else ''}"
    kept = "Nothing is kept without --checkpoint."
    if checkpoint is not None:
        kept = f"Kept in {checkpoint}: the same command goes on."
    print_message("Stopped", f"after {learner.n_samples_seen_:,} rows, {clusters}. {kept}", "bold")


def _is_at(path: Path, other: str | None) -> bool:
    return other is not None and path.resolve() == Path(other).expanduser().resolve()


@contextmanager
def _stopped_by_signals() -> Iterator[Callable[[], bool]]:
    """A function that says whether Ctrl-C or SIGTERM has come. A second one ends the process at once."""
    came: list[int] = []

    def note(number: int, _: Any) -> None:
        came.append(number)
        signal.signal(number, before[number])

    numbers: tuple[int, ...] = (signal.SIGINT, signal.SIGTERM)
    before: dict[int, Any] = {number: signal.signal(number, note) for number in numbers}
    try:
        yield lambda: bool(came)
    finally:
        for number in numbers:
            signal.signal(number, before[number])


def _print(facts: dict[str, Any]) -> None:
    """Print a line of JSON at once."""
    sys.stdout.write(json.dumps(facts, allow_nan=False) + "\n")
    sys.stdout.flush()


def _event(event: "Event", names: Sequence[str] | None) -> dict[str, Any]:
    """An event as JSON: all of its fields."""
    facts = {name: _rounded(value) for name, value in event._asdict().items()}
    return facts | {"center": _named(facts["center"], names)}


def _novel(novel: "Novel", names: Sequence[str] | None) -> dict[str, Any]:
    """A novel row as JSON; the row is exact."""
    facts = {name: _rounded(value) for name, value in novel._asdict().items()}
    return {"samples": novel.samples, "kind": "novel"} | facts | {"row": _named(novel.row.tolist(), names)}


def _named(values: list[Any], names: Sequence[str] | None) -> Any:
    return values if names is None else dict(zip(names, values, strict=True))


def _rounded(value: Any) -> Any:
    """The same as JSON, which has no infinity."""
    if isinstance(value, np.ndarray):
        return [_rounded(one) for one in value.tolist()]
    if isinstance(value, float):
        return float(f"{value:.{DIGITS}g}") if np.isfinite(value) else None
    return value.item() if isinstance(value, np.generic) else value
