"""Evaluation commands: ``features``, ``validate``, ``metaeval``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

from arena.data.errors import UnusableRepliesError, UsageError, checked_choice
from arena.data.wording import split_names
from arena.llm.llm_settings import LlmSettings
from surrogate.board.settings import MOST_DRAWS, BoardSettings
from surrogate_arena.cli import options as opt
from surrogate_arena.cli.judging import DRY_RUN, NO_COST
from surrogate_arena.cli.options import FOLDER, OUT_FILE, check_target, given_features, given_models
from surrogate_arena.cli.printing import print_table, progress_lines, show, with_spans
from surrogate_arena.cli.setting_options import LLM_OPTIONS, setting, takes_settings
from surrogate_arena.papers.settings import OF_JUDGES, MetaevalSettings

if TYPE_CHECKING:
    from arena.llm.usage import Price
    from surrogate_arena.papers.evaluation import Benchmark
    from surrogate_arena.papers.reports import Report

STORE = "ratings.sqlite"
BENCHMARKS = {
    "memerag": "Memerag",
    "memerag-relevance": "Memerag",
    "wikieval": "Wikieval",
    "grouse": "Grouse",
    "pairs": "PairBenchmark",
}
"""Class of ``surrogate_arena.papers`` by the benchmark's name."""


@takes_settings(
    LlmSettings,
    *LLM_OPTIONS,
    "batch",
    "config",
    leave_out=OF_JUDGES,
)
def features(
    settings: LlmSettings,
    arena: Annotated[Path | None, Argument(help="Default: list the features", **FOLDER)] = None,
    out: Annotated[
        Path | None, Option(help="Table to write, such as f.parquet; or folder, part by part.")
    ] = None,
    features: Annotated[str, setting(BoardSettings, "features")] = "default",
    jobs: opt.Jobs = -1,
    _backend: opt.Backend = None,
    _scheduler: opt.Scheduler = None,
    device: Annotated[str, Option(help="Where models run: auto, cpu, cuda or mps.")] = "auto",
    download: opt.Download = False,
    templates: opt.Templates = None,
    as_json: opt.Json = False,
) -> None:
    """Measure features of every answer, or list what can be measured.

    A run that was killed resumes.
    """
    from arena.data.folder import read_arena
    from arena.data.tables import row_suffix, write_rows
    from arena.llm import Budget
    from features.engine.columns import missing_counts, require_replies
    from features.engine.extraction import extract
    from features.engine.parts import CACHE, extract_parts, require_parquet_tables

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
        content = extract_parts(arena, out, features, **options)
    else:
        table = extract(whole_arena, features, cache=cache, **options)
        write_rows(table, out)
        content = {"answers": len(table), "missing": missing_counts(table)}
    missing = content["missing"]
    if not as_json and len(missing):
        # A terminal has no room for each language.
        groups = missing.groupby(["feature", "reason"], sort=False)
        content["missing"] = groups["answers"].sum().reset_index()
    usages = budget.usages_by_model()
    content["usage"] = [usage.as_json() if as_json else str(usage) for usage in usages]
    content["table"] = out
    titles = {"missing": "Without a value", "usage": "Asked", "table": "Written to"}
    show(content, as_json, titles)
    # After the table is written: answers that were measured without an LLM keep their values.
    require_replies(missing, content["answers"], usages)


def _list_features(as_json: bool) -> None:
    from features.measures.registry import describe_all_features

    descriptions = describe_all_features()
    if not as_json:
        descriptions = descriptions[["feature", "summary", "source", "needs", "available"]]
    show({"features": descriptions}, as_json)


@takes_settings(BoardSettings, "judge", "features", "seed", "config")
def validate_command(
    arena: opt.Arena,
    settings: BoardSettings,
    protocol: Annotated[
        str,
        Option(
            help="leave-systems-out, leave-families-out (systems of one family of models "
            "together), leave-best-out (the best fifth), leave-language-out, mirage (two systems "
            "held out, all ranked), table3 (R² of surrogates), table4 (the paper's groups of "
            "features, two systems held out, all ranked), ablation (part of the features), "
            "importances (of features), replication (half of the questions against the other "
            "half), learning-curve (part of the arena) or sampling (verdicts alone: fewer "
            "questions, or fewer pairs, against all of them)."
        ),
    ] = "leave-systems-out",
    preset: opt.Preset = None,
    surrogate: Annotated[str | None, Option(help="Surrogate; table3 takes several.")] = None,
    feature_table: opt.FeatureTable = None,
    holdout: Annotated[str | None, Option(help="mirage, table4: systems to hold out.")] = None,
    repeats: Annotated[
        int | None, Option(min=1, max=MOST_DRAWS, help="Default: the protocol's")
    ] = None,
    tournaments: Annotated[
        int | None,
        Option(
            min=1,
            max=MOST_DRAWS,
            help="Bootstrapped tournaments per language. Default: 50, or the preset's",
        ),
    ] = None,
    jobs: opt.Jobs = -1,
    _backend: opt.Backend = None,
    _scheduler: opt.Scheduler = None,
    as_json: opt.Json = False,
) -> None:
    """Measure how well a surrogate ranks systems, languages or questions it was not trained on."""
    from arena.data.folder import read_arena
    from surrogate_arena.studies import PROTOCOLS, validate
    from surrogate_arena.studies.mirage_tables import TABLE_3

    checked_choice(protocol, list(PROTOCOLS), "protocol")
    read = read_arena(arena)
    options: dict[str, Any] = {
        "settings": settings,
        "preset": preset,
        "feature_table": given_features(feature_table, read.answers),
        "n_jobs": jobs,
        "progress": progress_lines(),
    }
    if tournaments is not None:
        options["tournaments"] = tournaments
    surrogates = split_names(surrogate) if protocol == TABLE_3 else surrogate
    study = validate(read, protocol, surrogates, repeats, holdout=holdout, **options)
    _show_study(study, protocol, as_json)


NEGATIVE_R2 = (
    "R² below 0: the expected ratings are further from those by verdicts than one number for all "
    "systems is. Tau may be high all the same, where the order is right and the scale is not"
)


def _show_study(study: Any, protocol: str, as_json: bool) -> None:  # noqa: ANN401 - of any protocol
    if as_json:
        show({"table": study.table, "signature": study.signature}, as_json)
        return
    # A terminal of 80 columns has no room for these; --json has them.
    wide_columns = {"replication": ["questions", "judgments"], "ablation": ["features"]}
    table = study.table.drop(columns=wide_columns.get(protocol, []))
    reasons: dict[str, None] = {}
    if "reason" in table:
        # Rows of a study share reasons: each is printed once.
        for joined_reasons in table.pop("reason").unique():
            reasons |= dict.fromkeys(filter(None, joined_reasons.split("; ")))
    r2_columns = [name for name in table if "r2" in name]
    if (table[r2_columns] < 0).any(axis=None):
        reasons[NEGATIVE_R2] = None
    content = {"table": with_spans(table), "signature": study.signature, "reasons": list(reasons)}
    # Table 3 has neither a tau nor an interval.
    has_taus = "tau" in table or "permutation" in table
    title = f"{protocol} (taus are Kendall's, intervals 95%)" if has_taus else protocol
    show(content, as_json, {"table": title})


@takes_settings(
    MetaevalSettings,
    "prompts",
    "languages",
    "limit",
    "columns",
    "reference",
    "replies",
    *LLM_OPTIONS,
    "batch",
    "store",
    "config",
    leave_out=OF_JUDGES,
)
def metaeval(
    benchmark: Annotated[str, Argument(help=f"One of {', '.join(BENCHMARKS)}.")],
    settings: MetaevalSettings,
    path: Annotated[
        Path | None,
        Argument(
            help="Its data as published: MEMERAG's folder, WikiEval's rows, GroUSE's tests "
            "(this project's by default), or answers of yours for GroUSE's six metrics; pairs with "
            "a better answer (a table, such as ContextualJudgeBench), or an arena with votes.",
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
        Option("--statistics", help="MEMERAG: ask no judge; print labels and agreement of people."),
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
    if statistics and judges:
        raise UsageError("give a --judge, or --statistics")
    if statistics:
        _show_statistics(benchmark, path, settings, as_json)
        return

    from arena.llm import read_prices
    from surrogate_arena.papers.records import check_name

    if path is None and benchmark != "grouse":
        raise UsageError(f"give the path of the data of {benchmark}")
    if out is not None:
        check_name(out)
    known_prices = {} if prices is None else read_prices(prices)
    data = _benchmark_data(benchmark, path, settings, templates or [])
    judge_names = _judge_names(data, judges)
    if dry_run:
        _show_dry_run(data, judge_names, known_prices, as_json)
        return
    _show_evaluation(data, judge_names, out, arena, known_prices, as_json)


def _show_statistics(
    benchmark: str, path: Path | None, settings: MetaevalSettings, as_json: bool
) -> None:
    """Show MEMERAG's labels, and how far people agree on them; no judge is asked."""
    from surrogate_arena.papers.memerag.label_spread import statistics_report
    from surrogate_arena.papers.memerag.sentences import read_memerag

    if benchmark != "memerag" or path is None:
        raise UsageError("--statistics is for memerag and needs its folder")
    sentences = read_memerag(path, settings.languages, settings.columns)
    report = statistics_report(sentences, settings.replicates, settings.seed)
    _print_report(report, as_json, None, {})


def _benchmark_data(
    benchmark: str, path: Path | None, settings: MetaevalSettings, templates: Sequence[str]
) -> Benchmark:
    """Read the items of a benchmark."""
    from arena.llm.prompts import read_templates
    from surrogate_arena import papers

    kind = getattr(papers, BENCHMARKS[benchmark])
    read = kind.read(path, settings, read_templates(templates, kind.replaceable))
    if benchmark == "memerag-relevance":
        read = replace(read, quality="relevance")
    data: Benchmark = read
    return data


def _judge_names(data: Benchmark, judges: Sequence[str] | None) -> list[str]:
    """Return the judges to ask, each once: the reference may be among those that are named."""
    from surrogate_arena.papers.evaluation import PYTHON

    names = list(dict.fromkeys([*(judges or data.default_judges), *data.reference_judges]))
    if not names:
        raise UsageError(f"give a --judge: {', '.join([*data.kinds, PYTHON])}")
    return names


def _show_dry_run(
    data: Benchmark, judges: Sequence[str], prices: Mapping[str, Price], as_json: bool
) -> None:
    """Show what judges would be asked and cost, without any call."""
    from surrogate_arena.papers.evaluation import dry_run_judges

    counts = dry_run_judges(data, judges, prices)
    content = {"judges": counts, "cost": "" if prices else NO_COST}
    show(content, as_json, {"judges": DRY_RUN})


def _show_evaluation(
    data: Benchmark,
    judges: Sequence[str],
    out: Path | None,
    arena: Path | None,
    prices: Mapping[str, Price],
    as_json: bool,
) -> None:
    """Ask judges, keep their verdicts, and show the report of those that gave any.

    Raises:
        UnusableRepliesError: If a judge gave no verdict, after the others are shown.
    """
    from surrogate_arena.papers.evaluation import evaluate_judges
    from surrogate_arena.papers.records import write_run

    evaluation = evaluate_judges(data, judges, progress_lines())
    if out is not None:
        write_run(evaluation.verdicts, out, getattr(data, "notice", ""))
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
    """Note the results in an arena's folder, if one is given, and print them, with what it cost."""
    from surrogate.board.metaevaluations import add_metaevaluations, read_metaevaluations
    from surrogate_arena.papers.reports import recorded_table

    recorded = None
    if arena is not None:
        add_metaevaluations(arena, report.metaevaluations)
        recorded = read_metaevaluations(arena)
    if as_json:
        shown = report.as_json(prices)
        if recorded is not None:
            shown["recorded"] = recorded
        show(shown, as_json)
        return
    for table in report.tables:
        print_table(table.title, table.table)
        for note in table.notes:
            print(note)
    if recorded:
        print_table(f"Judges in {arena}, percent with standard errors", recorded_table(recorded))
    for usage in report.usages or ():
        if not prices:
            print(usage)
            continue
        costs = [f"cost {_known(usage.cost(prices))}"]
        if report.items:
            thousand = _known(report.cost_per_thousand(usage, prices))
            costs.append(f"for a thousand {report.items} {thousand}")
        print(f"{usage}; {', '.join(costs)}")


def _known(cost: float | None) -> str:
    return "unknown" if cost is None else str(round(cost, 4))
