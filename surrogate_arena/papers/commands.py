"""Commands of papers: ``metaeval``, ``trainset``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from arena.data.errors import UnusableRepliesError, UsageError, checked_choice
from surrogate_arena.cli import options as opt
from surrogate_arena.cli.model_calls import DRY_RUN, NO_COST
from surrogate_arena.cli.options import FOLDER, OUT_FILE
from surrogate_arena.cli.printing import print_table, progress_lines, show
from surrogate_arena.cli.setting_options import takes_settings
from surrogate_arena.papers.settings import KINDS, OF_JUDGES, MetaevalSettings, TrainsetSettings

if TYPE_CHECKING:
    from arena.llm.prompts import ReplaceablePrompt
    from arena.llm.usage import Price
    from surrogate_arena.papers.evaluation import Benchmark
    from surrogate_arena.papers.reports import Report

BENCHMARKS = {
    "memerag": "Memerag",
    "memerag-relevance": "Memerag",
    "wikieval": "Wikieval",
    "grouse": "Grouse",
    "pairs": "PairBenchmark",
}
"""Class of ``surrogate_arena.papers`` by the benchmark's name."""


@takes_settings(
    MetaevalSettings,
    "prompts",
    "languages",
    "limit",
    "reference",
    "replies",
    "base_url",
    leave_out=OF_JUDGES,
)
def metaeval(
    benchmark: Annotated[str, Argument(help=f"One of {', '.join(BENCHMARKS)}.")],
    settings: MetaevalSettings,
    path: Annotated[
        Path | None,
        Argument(
            help="Its data as published: MEMERAG's folder, WikiEval's rows, GroUSE's "
            "tests (this project's by default), or your own answers for GroUSE's "
            "six metrics; pairs with a better answer (a table, such as "
            "ContextualJudgeBench), or an arena with votes.",
            exists=True,
        ),
    ] = None,
    judges: Annotated[
        list[str] | None,
        Option(
            "--judge",
            help="Repeatable: llm:MODEL, python:MODULE:FUNCTION, or run:FILE (verdicts of "
            "--out); for WikiEval ragas:LLM, 'ragas:LLM with EMBEDDER', gpt-score:LLM, "
            "gpt-ranking:LLM; for GroUSE labels:FILE[#ANNOTATOR]; for pairs of an arena "
            "recorded:JUDGE, its verdicts there (default: all its LLM judges).",
        ),
    ] = None,
    templates: opt.Templates = None,
    statistics: Annotated[
        bool,
        Option(
            "--statistics", help="MEMERAG: ask no judge; print labels and agreement among people."
        ),
    ] = False,
    dry_run: opt.DryRun = False,
    prices: opt.Prices = None,
    out: Annotated[Path | None, Option(help="File for verdicts (JSONL).", **OUT_FILE)] = None,
    arena: Annotated[
        Path | None, Option(help="Arena folder to record the result in.", **FOLDER)
    ] = None,
    as_json: opt.Json = False,
) -> None:
    """Compare judges with what people said: MEMERAG, WikiEval, GroUSE's unit tests, or pairs.

    Answers in GroUSE's schema without conditions are scored by its six metrics.
    """
    checked_choice(benchmark, BENCHMARKS, "benchmark")
    if statistics:
        if judges:
            raise UsageError("give a --judge, or --statistics")
        _show_statistics(benchmark, path, settings, as_json)
        return

    from arena.llm import read_prices
    from surrogate_arena.papers.evaluation import PYTHON, dry_run_judges
    from surrogate_arena.papers.records import check_name

    if path is None and benchmark != "grouse":
        raise UsageError(f"give the path of the data of {benchmark}")
    if out is not None:
        check_name(out)
    known_prices = {} if prices is None else read_prices(prices)
    data = _benchmark_data(benchmark, path, settings, templates or [])
    # The reference may be among those that are named.
    names = list(dict.fromkeys([*(judges or data.default_judges), *data.reference_judges]))
    if not names:
        raise UsageError(f"give a --judge: {', '.join([*data.kinds, PYTHON])}")
    if dry_run:
        counts = dry_run_judges(data, names, known_prices)
        cost = "" if known_prices else NO_COST
        show({"judges": counts, "cost": cost}, as_json, {"judges": DRY_RUN})
        return
    _show_evaluation(data, names, out, arena, known_prices, as_json)


def _show_statistics(
    benchmark: str, path: Path | None, settings: MetaevalSettings, as_json: bool
) -> None:
    from surrogate_arena.papers.memerag.label_spread import statistics_report
    from surrogate_arena.papers.memerag.sentences import read_memerag

    if benchmark != "memerag" or path is None:
        raise UsageError("--statistics is for memerag and needs its folder")
    sentences = read_memerag(path, settings.languages)
    report = statistics_report(sentences, settings)
    _print_report(report, as_json, None, {})


def _benchmark_data(
    benchmark: str, path: Path | None, settings: MetaevalSettings, templates: Sequence[str]
) -> Benchmark:
    from arena.llm.prompts import read_templates
    from surrogate_arena import papers

    kind = getattr(papers, BENCHMARKS[benchmark])
    read = kind.read(path, settings, read_templates(templates, kind.replaceable))
    if benchmark == "memerag-relevance":
        read = replace(read, quality="relevance")
    data: Benchmark = read
    return data


def _show_evaluation(
    data: Benchmark,
    judges: Sequence[str],
    out: Path | None,
    arena: Path | None,
    prices: Mapping[str, Price],
    as_json: bool,
) -> None:
    from surrogate_arena.papers.evaluation import evaluate_judges
    from surrogate_arena.papers.records import write_run

    evaluation = evaluate_judges(data, judges, progress_lines())
    if out is not None:
        write_run(evaluation.verdicts, out, data.notice)
    unusable = evaluation.without_verdict()
    usable = evaluation.of_others(unusable)
    # Without the reference there is nothing to compare the other judges with.
    has_reference = all(judge not in data.reference_judges for judge, _ in unusable)
    if len(usable.verdicts) and has_reference:
        _print_report(data.report(usable), as_json, arena, prices)
    if unusable:
        reasons = [f"{judge} gave no verdict: {reason}" for (judge, _), reason in unusable.items()]
        raise UnusableRepliesError("; ".join(reasons))


def _print_report(
    report: Report, as_json: bool, arena: Path | None, prices: Mapping[str, Price]
) -> None:
    from surrogate_arena.cli.judging_records import add_metaevaluations

    if arena is not None:
        add_metaevaluations(arena, report.metaevaluations)
    if as_json:
        show(report.as_json(prices), as_json)
        return
    for table in report.tables:
        print_table(table.title, table.table)
        for note in table.notes:
            print(note)
    for usage in report.usages or ():
        cost = usage.cost(prices)
        shown = "unknown" if cost is None else round(cost, 4)
        print(f"{usage}; cost {shown}" if prices else usage)
    if arena is not None:
        print(f"Recorded for the boards of {arena}")


@takes_settings(
    TrainsetSettings,
    "teacher",
    "base_url",
    "balance",
)
def trainset(
    kind: Annotated[str, Argument(help=f"One of {', '.join(KINDS)}.")],
    arena: opt.Arena,
    out: Annotated[Path, Option(help="File of chats to write, such as train.jsonl.", **OUT_FILE)],
    settings: TrainsetSettings,
    as_json: opt.Json = False,
) -> None:
    """Make a training set from an arena's questions: chats that trl reads.

    mirage teaches a model to answer as a teacher does, from noisy passages (MIRAGE-Bench, 3.3);
    grouse, to score an answer by all metrics in one reply (GroUSE, section 5).
    """
    import pandas as pd

    from arena.data.folder import read_arena
    from arena.data.tables import row_suffix, write_rows
    from surrogate_arena.papers.training_sets import make_trainset

    row_suffix(out)  # before a teacher is paid
    chats = make_trainset(kind, read_arena(arena), settings, progress_lines())
    write_rows(pd.DataFrame(chats.rows), out)
    content = {"rows": len(chats.rows), "outcomes": chats.outcomes, "file": out}
    show(content, as_json, {"outcomes": "Kept and left out"})


def sent_prompts() -> dict[str, tuple[ReplaceablePrompt, ...]]:
    """Return the replaceable prompts by the command that sends them."""
    from features.models import FEATURE_PROMPTS
    from surrogate_arena.papers import Grouse, Memerag, Wikieval

    prompts_by_command = {}
    for name, benchmark in (("memerag", Memerag), ("wikieval", Wikieval), ("grouse", Grouse)):
        # Ragas's prompts of features serve some judges too; they are listed with the features.
        own = [prompt for prompt in benchmark.replaceable if prompt not in FEATURE_PROMPTS]
        prompts_by_command[f"metaeval {name}"] = tuple(own)
    return prompts_by_command
