"""``surrogate-arena features``: what can be measured on an answer, and the measuring of it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from arena.data.wording import count_of
from surrogate.cli.options import (
    FILE,
    ArenaArgument,
    BatchSizeOption,
    DeviceOption,
    DownloadOption,
    FeaturesOption,
    JobsOption,
    JsonOption,
    TemplatesOption,
    checked_settings,
)
from surrogate.cli.targets import OUT_FILE

if TYPE_CHECKING:
    import pandas as pd

MEASURE = "measure"
RATINGS_FILE = "ratings.sqlite"


class _MeasureByDefault(TyperGroup):
    """``features ARENA`` is short for ``features measure ARENA``."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401 - click's own
        if args and args[0] not in self.commands and args[0] not in ctx.help_option_names:
            args = [MEASURE, *args]
        return list(super().parse_args(ctx, args))


features = typer.Typer(
    cls=_MeasureByDefault,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    help="Measure features of every answer: 'features ARENA --out FILE', short for "
    "'features measure ARENA --out FILE'; 'features list' shows which there are.",
)


@features.command(MEASURE)
def measure_features(
    arena: ArenaArgument,
    out: Annotated[
        Path,
        typer.Option(
            "--out", help="Table to write: .parquet, .jsonl or .csv (.gz, .zst).", **OUT_FILE
        ),
    ],
    features: FeaturesOption = "default",
    answers: Annotated[
        Path | None,
        typer.Option("--answers", help="Answers of other systems, instead of the arena's.", **FILE),
    ] = None,
    jobs: JobsOption = -1,
    backend: Annotated[
        str, typer.Option("--backend", help="Where to measure: processes, threads, dask or ray.")
    ] = "processes",
    scheduler: Annotated[
        str | None,
        typer.Option("--scheduler", help="Address of a running Dask scheduler or Ray cluster."),
    ] = None,
    device: DeviceOption = "auto",
    batch_size: BatchSizeOption = 32,
    download: DownloadOption = False,
    base_url: Annotated[
        str | None,
        typer.Option("--base-url", help="OpenAI-compatible server of LLM-rated features, to /v1."),
    ] = None,
    store: Annotated[
        str | None,
        typer.Option(
            "--store",
            help="SQLite file that keeps an LLM's replies; in the cache if not given.",
        ),
    ] = None,
    templates: TemplatesOption = None,
    cache: Annotated[
        Path | None,
        typer.Option(
            "--cache",
            help="Folder that keeps what was measured, by content; beside the table if not given.",
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Measure features; a run that was killed goes on where it was."""
    from arena.data.folder import read_answers, read_arena
    from arena.data.rows import row_suffix, write_rows
    from arena.llm import LlmSettings
    from arena.text.prompts import read_templates
    from features.engine.extraction import extract, missing_counts
    from features.engine.workers import worker_pool
    from features.measures.registry import parse_features
    from features.models import FEATURE_PROMPTS, ModelOptions
    from surrogate.cli.printing import progress_bar

    row_suffix(out)
    own = read_templates(templates or (), FEATURE_PROMPTS)
    declared = parse_features(features)
    asked = read_arena(arena)
    others = None if answers is None else read_answers(answers, asked.queries)
    cache_folder = out.with_name(f"{out.name}.cache") if cache is None else cache
    cache_folder.mkdir(parents=True, exist_ok=True)
    asked_of = {"store": store or str(cache_folder / RATINGS_FILE)}
    if base_url is not None:
        asked_of["base_url"] = base_url
    with worker_pool(backend, scheduler, jobs), progress_bar() as progress:
        table = extract(
            asked,
            declared,
            others,
            n_jobs=None,
            models=ModelOptions(
                device,
                batch_size,
                download,
                checked_settings(LlmSettings, asked_of),
                own,
            ),
            cache=cache_folder,
            progress=progress,
        )
    write_rows(table, out)
    _print_measured(table, missing_counts(table), out, as_json)


@features.command("list")
def list_features(as_json: JsonOption = False) -> None:
    """List the features: name, meaning, source, needs, whether they can be measured here."""
    from features.measures.registry import describe_features
    from surrogate.cli import printing

    table = describe_features()
    if as_json:
        printing.print_json(table)
        return
    printing.print_columns(
        "Features", table, ["feature", "summary", "source", "needs", "available"]
    )


def _print_measured(table: pd.DataFrame, missing: pd.DataFrame, out: Path, as_json: bool) -> None:
    from features.engine.extraction import feature_columns
    from surrogate.cli import printing

    summary = table[feature_columns(table)].agg(["count", "mean", "min", "max"]).T
    summary = summary.rename_axis("feature").reset_index().astype({"count": "int64"})
    if as_json:
        printing.print_json(
            {
                "answers": len(table),
                "features": summary,
                "missing": missing,
            }
        )
        return
    printing.print_columns(
        f"Features of {count_of(len(table), 'answer')}",
        summary,
        ["feature", "count", "mean", "min", "max"],
    )
    if len(missing):
        total = missing.groupby(["feature", "reason"], sort=False)["answers"].sum().reset_index()
        printing.print_columns("Without a value", total, ["feature", "reason", "answers"])
    print(f"Table written to {out}")
