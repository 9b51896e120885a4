"""``surrogate-arena features``: what can be measured on an answer, and the measuring of it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from arena.data.wording import count_of
from surrogate.cli.options import (
    FILE,
    FOLDER,
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

RATINGS_FILE = "ratings.sqlite"


def features(
    arena: Annotated[
        Path | None,
        typer.Argument(help="Arena folder; without one, features are listed.", **FOLDER),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", help="Table to write: .parquet, .jsonl or .csv (.gz, .zst).", **OUT_FILE
        ),
    ] = None,
    features: FeaturesOption = "default",
    answers: Annotated[
        Path | None,
        typer.Option("--answers", help="Answers of other systems, instead of the arena's.", **FILE),
    ] = None,
    jobs: JobsOption = -1,
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
    """Measure features of every answer, or list what can be measured.

    A run that was killed goes on where it was.
    """
    from arena.data.errors import UsageError
    from arena.data.folder import read_answers, read_arena
    from arena.data.rows import row_suffix, write_rows
    from arena.llm import LlmSettings
    from arena.text.prompts import read_templates
    from features.engine.columns import missing_counts
    from features.engine.extraction import extract
    from features.measures.registry import parse_features
    from features.models import FEATURE_PROMPTS, ModelOptions
    from surrogate.cli.printing import progress_bar

    if arena is None:
        _list_features(as_json)
        return
    if out is None:
        raise UsageError("say where the table goes: --out features.parquet")
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
    llm = checked_settings(LlmSettings, asked_of)
    with progress_bar() as progress:
        table = extract(
            asked,
            declared,
            others,
            n_jobs=jobs,
            models=ModelOptions(device, batch_size, download, llm, own),
            cache=cache_folder,
            progress=progress,
        )
    write_rows(table, out)
    _print_measured(table, missing_counts(table), out, as_json)


def _list_features(as_json: bool) -> None:
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
    from features.engine.columns import feature_columns
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
