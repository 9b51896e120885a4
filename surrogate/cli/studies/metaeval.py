"""``surrogate-arena metaeval``: judges held against people, and people against each other."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from arena.data.errors import UsageError
from arena.data.wording import count_of
from surrogate.cli.options import (
    JsonOption,
    TemplatesOption,
    checked_option,
    with_settings,
)
from surrogate.cli.targets import OUT_FILE
from surrogate.metaevaluation.settings import OF_PROMPTS, MetaevalSettings

if TYPE_CHECKING:
    import pandas as pd

    from arena.text.prompts import Templates
    from surrogate.metaevaluation.memerag.highlighting import Highlights
    from surrogate.metaevaluation.report import Report
    from surrogate.metaevaluation.runner import Benchmark

BENCHMARKS = ("memerag", "memerag-relevance", "wikieval", "grouse")
SHOWN = ("prompts", "languages", "kinds", "limit", "reference", "base_url", "store")


@with_settings(MetaevalSettings, OF_PROMPTS, SHOWN)
def metaeval(
    benchmark: Annotated[str, typer.Argument(help=f"One of {', '.join(BENCHMARKS)}.")],
    settings: MetaevalSettings,
    path: Annotated[
        Path | None,
        typer.Argument(
            help="Its data as published: MEMERAG's folder, WikiEval's rows or the folder of its "
            "recast, GroUSE's tests (this project's by default).",
            exists=True,
        ),
    ] = None,
    judges: Annotated[
        list[str] | None,
        typer.Option(
            "--judge",
            help="Repeatable: llm:MODEL, lexical, python:MODULE:FUNCTION, or run:FILE (verdicts of "
            "--out); for WikiEval ragas:LLM, 'ragas:LLM with EMBEDDER', gpt-score:LLM, "
            "gpt-ranking:LLM; for GroUSE labels:FILE[#ANNOTATOR], feature:QUALITY=FEATURE.",
        ),
    ] = None,
    templates: TemplatesOption = None,
    statistics: Annotated[
        bool,
        typer.Option(
            "--statistics",
            help="MEMERAG: ask no judge; print how labels are spread, and how far people agree.",
        ),
    ] = False,
    sheet: Annotated[
        Path | None,
        typer.Option(
            "--sheet",
            help="MEMERAG: write the sheet that an annotator fills in, such as anna.csv.",
            **OUT_FILE,
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", help="File for the verdicts, such as run.jsonl.", **OUT_FILE),
    ] = None,
    arena: Annotated[
        Path | None,
        typer.Option("--arena", help="Arena folder whose metaevaluation.json notes the result."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Hold judges against what people said: MEMERAG, WikiEval, or GroUSE's unit tests."""
    checked_option("BENCHMARK", benchmark, BENCHMARKS)
    asked_of_people = [statistics, sheet is not None]
    if sum([*asked_of_people, bool(judges)]) != 1:
        raise UsageError("give a --judge, or --statistics, or --sheet")
    if path is not None and any(asked_of_people):
        _check_memerag(benchmark)
        _without_judges(path, settings, templates, sheet, as_json)
        return
    from surrogate.cli.printing import progress_bar
    from surrogate.metaevaluation.records import write_run
    from surrogate.metaevaluation.runner import evaluate_judges

    made = _benchmark(benchmark, path, settings, templates)
    asked = list(dict.fromkeys([*(judges or ()), *filter(None, [settings.reference])]))
    with progress_bar() as progress:
        evaluation = evaluate_judges(made, asked, progress)
    if out is not None:
        write_run(evaluation.verdicts, out, getattr(made, "notice", ""))
    _present(made.report(evaluation), as_json, arena)


def _benchmark(
    name: str, path: Path | None, settings: MetaevalSettings, templates: list[str] | None
) -> Benchmark[Any]:
    from arena.text.prompts import read_templates

    given = templates or ()
    if name == "grouse":
        from surrogate.metaevaluation.grouse.grouse import Grouse
        from surrogate.metaevaluation.grouse.scoring import GROUSE_PROMPTS, JOINT_PROMPT

        own = read_templates(given, [*GROUSE_PROMPTS.values(), JOINT_PROMPT])
        return Grouse.read(path, settings, own)
    if path is None:
        raise UsageError(f"give the path of the data of {name}")
    if name == "wikieval":
        from surrogate.metaevaluation.wikieval.pairs import read_wikieval
        from surrogate.metaevaluation.wikieval.wikieval import WIKIEVAL_PROMPTS, Wikieval

        own = read_templates(given, WIKIEVAL_PROMPTS)
        return Wikieval(read_wikieval(path, settings.kinds, settings.better), settings, own)
    from surrogate.metaevaluation.memerag.memerag import MEMERAG_PROMPTS, Memerag
    from surrogate.metaevaluation.memerag.sentences import read_memerag

    own = read_templates(given, MEMERAG_PROMPTS)
    sentences = read_memerag(path, settings.languages)
    return Memerag(sentences, settings, own, "faithfulness" if name == "memerag" else "relevance")


def _check_memerag(benchmark: str) -> None:
    if benchmark != "memerag":
        raise UsageError("--statistics and --sheet are of memerag")


def _without_judges(
    path: Path,
    settings: MetaevalSettings,
    templates: list[str] | None,
    sheet: Path | None,
    as_json: bool,
) -> None:
    """Print statistics of MEMERAG's labels, or write a sheet for an annotator."""
    from surrogate.metaevaluation.memerag.sentences import read_memerag

    sentences = read_memerag(path, settings.languages)
    if sheet is not None:
        _write_sheet(sentences, settings, templates, sheet, as_json)
        return
    from arena.statistics.agreement import Resampling
    from surrogate.metaevaluation.memerag.label_spread import statistics_report

    resampling = Resampling(settings.replicates, seed=settings.seed)
    _present(statistics_report(sentences, resampling), as_json)


def _present(report: Report, as_json: bool, arena: Path | None = None) -> None:
    """Note the results in an arena's folder, if one is given, and print them."""
    from surrogate.board.metaevaluations import add_metaevaluations
    from surrogate.cli.printing import print_json, print_table

    if arena is not None:
        add_metaevaluations(arena, report.metaevaluations)
    if as_json:
        print_json(report.as_json())
        return
    for table in report.tables:
        print_table(table.title, table.header, table.rows)
        for note in table.notes:
            print(note)
    for usage in report.usages or ():
        print(usage)


def _write_sheet(
    sentences: pd.DataFrame,
    settings: MetaevalSettings,
    templates: list[str] | None,
    out: Path,
    as_json: bool,
) -> None:
    from arena.text.prompts import read_templates
    from surrogate.cli.printing import print_json
    from surrogate.metaevaluation.memerag.highlighting import HIGHLIGHT_PROMPT
    from surrogate.metaevaluation.memerag.sheets import annotation_sheet, write_sheet

    if settings.limit is not None:
        of_language = sentences.groupby("language", sort=False)
        sentences = of_language.head(settings.limit).reset_index(drop=True)
    own = read_templates(templates or (), [HIGHLIGHT_PROMPT])
    found = None if settings.highlight is None else _highlighted(sentences, settings, own)
    shown = sentences
    if found is not None:
        shown = sentences.assign(passages=found.table["highlighted"].to_numpy())
    write_sheet(annotation_sheet(shown), out)
    counts: dict[str, object] = {"sentences": len(sentences)}
    if found is not None:
        counts |= {
            "highlighted": int((found.table["references"].map(len) > 0).sum()),
            "unsupported": sum(each is False for each in found.table["is_supported"]),
            "unknown": int(found.table["is_supported"].isna().sum()),
            "usage": found.usage.as_json(),
        }
    if as_json:
        print_json({"file": str(out), **counts})
        return
    print(f"{count_of(len(sentences), 'sentence')} to annotate: {out}")
    if found is not None:
        print(
            f"Support is highlighted of {counts['highlighted']}; {counts['unsupported']} have "
            f"none, of {counts['unknown']} nothing is known"
        )
        print(found.usage)


def _highlighted(
    sentences: pd.DataFrame, settings: MetaevalSettings, templates: Templates
) -> Highlights:
    from arena.llm import Budget, Llm, open_store
    from surrogate.cli.printing import progress_bar
    from surrogate.metaevaluation.memerag.highlighting import (
        MAX_TOKENS,
        TEMPERATURE,
        highlight_support,
    )

    most = settings.max_tokens or MAX_TOKENS
    asked = settings.model_copy(
        update={"model": settings.highlight, "temperature": TEMPERATURE, "max_tokens": most}
    ).located()
    with open_store(settings.store) as store, progress_bar() as progress:
        llm = Llm(asked, store, Budget(settings.max_calls))
        return highlight_support(sentences, llm, templates, progress)
