"""Features of answers: ``features``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from typer import Argument, Option

from arena.data.errors import UsageError
from arena.llm.llm_settings import LlmSettings
from surrogate.board.settings import BoardSettings
from surrogate_arena.cli import options as opt
from surrogate_arena.cli.options import FOLDER, check_target, given_models
from surrogate_arena.cli.printing import progress_lines, show
from surrogate_arena.cli.setting_options import setting, takes_settings

STORE = "ratings.sqlite"


@takes_settings(
    LlmSettings,
    "base_url",
    leave_out={"model"},  # each feature names its own,
)
def features(
    settings: LlmSettings,
    arena: Annotated[Path | None, Argument(help="Default: list the features", **FOLDER)] = None,
    out: Annotated[
        Path | None,
        Option(help="Table to write, such as f.parquet; or a folder, written part by part."),
    ] = None,
    features: Annotated[str, setting(BoardSettings, "features")] = "default",
    jobs: opt.Jobs = -1,
    _cluster: opt.Cluster = None,
    device: Annotated[str, Option(help="Where models run: auto, cpu, cuda or mps.")] = "auto",
    download: opt.Download = False,
    templates: opt.Templates = None,
    as_json: opt.Json = False,
) -> None:
    """Measure features of every answer, or list what can be measured.

    If a run is killed, run the same command again to resume it.
    """
    from arena.data.folder import read_arena
    from arena.data.tables import row_suffix, write_rows
    from arena.llm import Budget
    from features.engine.extraction import extract, missing_counts
    from features.models.missing_replies import require_replies
    from surrogate_arena.measuring.parts import CACHE, extract_parts, require_parquet_tables

    in_parts = out is not None and not (out.suffix and row_suffix(out))
    if out is not None:
        check_target(out, in_parts)
    if arena is None:
        _list_features(as_json)
        return
    if out is None:
        raise UsageError("say where the table goes: --out features.parquet")
    # Before any folder is made: a command that is refused leaves none behind.
    if in_parts:
        require_parquet_tables(arena)
        cache = out / CACHE
    else:
        whole_arena = read_arena(arena)
        cache = out.with_name(f"{out.name}.cache")
    cache.mkdir(parents=True, exist_ok=True)
    llm = settings
    if llm.store is None:
        llm = LlmSettings(**llm.model_dump(exclude_unset=True), store=str(cache / STORE))
    budget = Budget(llm.max_calls)
    models = given_models(templates, device=device, download=download, llm=llm, budget=budget)
    options: Any = {"n_jobs": jobs, "models": models, "progress": progress_lines()}
    if in_parts:
        measured = extract_parts(arena, out, features, **options)
    else:
        table = extract(whole_arena, features, cache=cache, **options)
        write_rows(table, out)
        measured = {"answers": len(table), "missing": missing_counts(table)}
    usages = budget.usages_by_model()
    _show_measured({**measured, "usage": usages, "table": out}, as_json)
    # After the table is written: answers that were measured without an LLM keep their values.
    require_replies(measured["missing"], measured["answers"], usages)


def _show_measured(content: dict[str, Any], as_json: bool) -> None:
    usages = content["usage"]
    content["usage"] = [usage.as_json() if as_json else str(usage) for usage in usages]
    missing = content["missing"]
    if not as_json and len(missing):
        # A terminal has no room for each language.
        groups = missing.groupby(["feature", "reason"], sort=False)
        content["missing"] = groups["answers"].sum().reset_index()
    titles = {"missing": "Without a value", "usage": "Asked", "table": "Written to"}
    show(content, as_json, titles)


def _list_features(as_json: bool) -> None:
    from surrogate_arena.measuring.descriptions import describe_all_features

    descriptions = describe_all_features()
    if not as_json:
        descriptions = descriptions[["feature", "summary", "source", "needs", "available"]]
    show({"features": descriptions}, as_json)
