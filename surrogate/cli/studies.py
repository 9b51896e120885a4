"""How good things are: ``features``, ``validate``, ``metaeval``, ``sampling``."""

from __future__ import annotations

from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

from arena.data.errors import UsageError, checked_choice
from arena.data.wording import count_of
from surrogate.board.settings import MOST_DRAWS, PRESET, BoardSettings, chosen_settings
from surrogate.cli.options import (
    FILE,
    FOLDER,
    OUT_FILE,
    ArenaArgument,
    ConfigOption,
    DownloadOption,
    FeatureTableOption,
    JobsOption,
    JsonOption,
    JudgeOption,
    PresetOption,
    SeedOption,
    TemplatesOption,
    given_features,
    setting,
    settings_of,
    split_names,
)
from surrogate.cli.printing import print_json, print_table, progress_bar, with_spans
from surrogate.metaevaluation.settings import OF_PROMPTS, MetaevalSettings

if TYPE_CHECKING:
    from surrogate.metaevaluation.evaluation import Benchmark, Report

STORE = "ratings.sqlite"
LISTED = ["feature", "summary", "source", "needs", "available"]
BENCHMARKS = ("memerag", "memerag-relevance", "wikieval", "grouse")
TABLE_3, HALF = "table3", "half"
TITLES = MappingProxyType(
    {
        "ablation": "Unseen systems ranked by part of the features (Kendall tau, 95% interval over "
        "systems; difference from all features)",
        "importances": "What the ranking rests on (tau of unseen systems lost by permutation; 95% "
        "intervals over tournaments)",
        "frontier": "Systems better than all learned from: share said to be so, and of others; tau "
        "among them; share of ratings inside their 90% intervals",
        "replication": "Ratings by the verdicts on part of the questions against the verdicts on "
        "others (Kendall tau of both together, of verdicts and surrogate alone; 95% over systems)",
        "learning-curve": "Unseen systems ranked after learning from part of the arena (Kendall "
        "tau, 95% interval over systems)",
        TABLE_3: "R² of surrogates",
        "table4": "All systems ranked by groups of features, two held out (Kendall tau)",
    }
)
"""Protocols whose results are tables of their own."""


def features(
    arena: Annotated[
        Path | None, Argument(help="Arena folder. Default: list the features", **FOLDER)
    ] = None,
    out: Annotated[
        Path | None,
        Option(help="Table to write: .parquet, .jsonl or .csv (.gz, .zst).", **OUT_FILE),
    ] = None,
    features: Annotated[str, setting(BoardSettings, "features")] = "default",
    answers: Annotated[
        Path | None, Option(help="Answers of other systems, instead of the arena's.", **FILE)
    ] = None,
    jobs: JobsOption = -1,
    device: Annotated[str, Option(help="Where models run: auto, cpu, cuda or mps.")] = "auto",
    batch_size: Annotated[int, Option(min=1, help="Batch size of models.")] = 32,
    download: DownloadOption = False,
    base_url: Annotated[
        str | None, Option(help="OpenAI-compatible server of LLM-rated features, up to /v1.")
    ] = None,
    store: Annotated[
        str | None, Option(help="SQLite file of an LLM's replies. Default: in the cache")
    ] = None,
    templates: TemplatesOption = None,
    cache: Annotated[
        Path | None, Option(help="Folder of measured values. Default: beside the table")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Measure features of every answer, or list what can be measured.

    A run that was killed resumes.
    """
    from arena.data.folder import read_answers, read_arena
    from arena.data.rows import row_suffix, write_rows
    from arena.llm import LlmSettings
    from arena.text.prompts import read_templates
    from features.engine.columns import feature_columns, missing_counts
    from features.engine.extraction import extract
    from features.measures.registry import describe_features, parse_features
    from features.models import FEATURE_PROMPTS, ModelOptions

    if arena is None:
        listed = describe_features()
        print_json(listed) if as_json else print_table("Features", listed, LISTED)
        return
    if out is None:
        raise UsageError("say where the table goes: --out features.parquet")
    row_suffix(out)
    own = read_templates(templates or (), FEATURE_PROMPTS)
    declared = parse_features(features)
    read = read_arena(arena)
    others = None if answers is None else read_answers(answers, read.queries)
    cache = cache or out.with_name(f"{out.name}.cache")
    cache.mkdir(parents=True, exist_ok=True)
    store = store or str(cache / STORE)
    llm = settings_of(LlmSettings, None, {"store": store, "base_url": base_url})
    models = ModelOptions(device, batch_size, download, llm, own)
    with progress_bar() as progress:
        table = extract(
            read, declared, others, n_jobs=jobs, models=models, cache=cache, progress=progress
        )
    write_rows(table, out)
    missing = missing_counts(table)
    summary = table[feature_columns(table)].agg(["count", "mean", "min", "max"]).T
    summary = summary.rename_axis("feature").reset_index().astype({"count": "int64"})
    if as_json:
        print_json({"answers": len(table), "features": summary, "missing": missing})
        return
    print_table(f"Features of {count_of(len(table), 'answer')}", summary)
    if len(missing):
        total = missing.groupby(["feature", "reason"], sort=False)["answers"].sum().reset_index()
        print_table("Without a value", total)
    print(f"Table written to {out}")


def validate(
    arena: ArenaArgument,
    protocol: Annotated[
        str,
        Option(
            help="leave-systems-out, leave-language-out, mirage (two systems held out, all "
            "ranked), table3 (R² of surrogates), table4 (the paper's groups of features, two "
            "systems held out, all ranked), ablation (part of the features), importances (of "
            "features), frontier (the best systems rated by surrogates of the others), replication "
            "(half of the questions against the other half) or learning-curve (part of the arena).",
        ),
    ] = "leave-systems-out",
    preset: PresetOption = None,
    surrogate: Annotated[
        str | None, Option(help="Surrogate to validate; for table3 comma-separated.")
    ] = None,
    features: Annotated[str | None, setting(BoardSettings, "features")] = None,
    feature_table: FeatureTableOption = None,
    judge: JudgeOption = None,
    holdout: Annotated[
        str | None, Option(help="For mirage, table4: comma-separated systems to hold out.")
    ] = None,
    judged: Annotated[
        str | None,
        Option(help="For replication: comma-separated numbers of judged questions, or half."),
    ] = None,
    repeats: Annotated[
        int | None, Option(min=1, max=MOST_DRAWS, help="Repeats. Default: the protocol's")
    ] = None,
    tournaments: Annotated[int | None, setting(BoardSettings, "tournaments")] = None,
    seed: SeedOption = 0,
    config: ConfigOption = None,
    jobs: JobsOption = -1,
    as_json: JsonOption = False,
) -> None:
    """Measure how well a surrogate ranks systems, languages or questions it was not trained on."""
    given = {"features": features, "tournaments": tournaments, "seed": seed}
    names = split_names(surrogate) if protocol == TABLE_3 else []
    given |= {} if names else {"surrogate": surrogate}
    stated = settings_of(BoardSettings, config, given, ("judge", "holdout", "ratings"))

    from arena.data.folder import read_arena

    read = read_arena(arena)
    read.judged_by(judge)  # refused before what is slow to load

    from features.measures.registry import parse_features
    from surrogate.learning.languages import TournamentSettings
    from surrogate.learning.names import TABLE_3_SURROGATES, find_surrogate
    from surrogate.validation import validate as validate_arena
    from surrogate.validation.study import DEFAULT_TOURNAMENTS

    more: dict[str, object] = {PRESET: preset}
    if preset is None and "tournaments" not in stated.model_fields_set:
        more["tournaments"] = DEFAULT_TOURNAMENTS
    chosen = chosen_settings(stated, more)
    options: dict[str, Any] = {}
    if preset is not None or "features" in stated.model_fields_set:
        options["features"] = parse_features(",".join(chosen.features))
    trained = [
        find_surrogate(name, rows=chosen.rows, missing=chosen.missing)
        for name in ((names or TABLE_3_SURROGATES) if protocol == TABLE_3 else [chosen.surrogate])
    ]
    with progress_bar() as progress:
        study = validate_arena(
            *(read, protocol, trained if protocol == TABLE_3 else trained[0], repeats),
            **options,
            holdout=None if holdout is None else split_names(holdout),
            judged=None if judged is None else _numbers(judged),
            judge=judge,
            feature_table=given_features(feature_table),
            tournaments=TournamentSettings(
                *(chosen.tournaments, chosen.questions, chosen.ties, chosen.ridge, chosen.seed)
            ),
            n_jobs=jobs,
            progress=progress,
        )
    if as_json:
        print_json({"table": study.table, "signature": study.signature})
        return
    other = f"Agreement with the arena: {protocol} (Kendall tau, 95% interval over systems)"
    print_table(TITLES.get(protocol, other), with_spans(study.table))
    print(f"Signature: {study.signature}")


def _numbers(judged: str) -> list[int | None]:
    """Read numbers of judged questions, such as ``6,12,half``."""
    items = split_names(judged)
    wrong = [item for item in items if item != HALF and not (item.isdecimal() and int(item) > 0)]
    if wrong or not items:
        raise UsageError(f"--judged is {judged!r}: give numbers from 1 on, or {HALF}")
    return [None if item == HALF else int(item) for item in items]


def sampling(
    arena: ArenaArgument,
    judge: JudgeOption = None,
    shares: Annotated[
        str, Option(help="Comma-separated shares of the arena, above 0, at most 1.")
    ] = "0.05,0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8,0.9,1",
    repeats: Annotated[
        int, Option(min=1, max=MOST_DRAWS, help="Subsets of each design and share.")
    ] = 100,
    ties: Annotated[str, setting(BoardSettings, "ties")] = "half",
    ridge: Annotated[float, Option(min=0, help="Precision of the prior on coefficients.")] = 0.1,
    seed: SeedOption = 0,
    as_json: JsonOption = False,
) -> None:
    """Show how well fewer judgments rank the systems, against all judgments of an arena.

    Fewer are all pairs of random questions, or random pairs of each question.
    """
    from arena.data.folder import read_arena
    from arena.rating.battles import TIE_RULES

    rule = checked_choice(ties, TIE_RULES, "`ties`")
    try:
        parts = [float(part) for part in split_names(shares)]
    except ValueError:
        raise UsageError(f"--shares is {shares!r}; write such as 0.1,0.5,1") from None
    judgments = read_arena(arena).judged_by(judge).judgments

    from arena.judging.choosing.sampling import study_sampling

    study = study_sampling(judgments, parts, repeats=repeats, ties=rule, ridge=ridge, seed=seed)
    if as_json:
        print_json({"table": study.table, "signature": study.signature})
        return
    title = f"Kendall tau with the whole arena (mean and 95% of {count_of(repeats, 'repeat')})"
    print_table(title, study.table)
    print(f"Signature: {study.signature}")


def metaeval(
    benchmark: Annotated[str, Argument(help=f"One of {', '.join(BENCHMARKS)}.")],
    path: Annotated[
        Path | None,
        Argument(
            help="Its data as published: MEMERAG's folder, WikiEval's rows or the folder of its "
            "recast, GroUSE's tests (this project's by default).",
            exists=True,
        ),
    ] = None,
    judges: Annotated[
        list[str] | None,
        Option(
            "--judge",
            help="Repeatable: llm:MODEL, python:MODULE:FUNCTION, or run:FILE (verdicts of "
            "--out); for WikiEval ragas:LLM, 'ragas:LLM with EMBEDDER', gpt-score:LLM, "
            "gpt-ranking:LLM; for GroUSE labels:FILE[#ANNOTATOR], feature:QUALITY=FEATURE.",
        ),
    ] = None,
    prompts: Annotated[str | None, setting(MetaevalSettings, "prompts")] = None,
    languages: Annotated[str | None, setting(MetaevalSettings, "languages")] = None,
    kinds: Annotated[str | None, setting(MetaevalSettings, "kinds")] = None,
    limit: Annotated[int | None, setting(MetaevalSettings, "limit")] = None,
    reference: Annotated[str | None, setting(MetaevalSettings, "reference")] = None,
    base_url: Annotated[str | None, setting(MetaevalSettings, "base_url")] = None,
    store: Annotated[str | None, setting(MetaevalSettings, "store")] = None,
    config: ConfigOption = None,
    templates: TemplatesOption = None,
    statistics: Annotated[
        bool,
        Option("--statistics", help="MEMERAG: ask no judge; print labels and agreement of people."),
    ] = False,
    sheet: Annotated[
        Path | None,
        Option(help="MEMERAG: sheet for an annotator to write, such as anna.csv.", **OUT_FILE),
    ] = None,
    out: Annotated[
        Path | None, Option(help="File for the verdicts, such as run.jsonl.", **OUT_FILE)
    ] = None,
    arena: Annotated[
        Path | None, Option(help="Arena folder whose metaevaluation.json notes the result.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Compare judges with what people said: MEMERAG, WikiEval, or GroUSE's unit tests."""
    settings = settings_of(MetaevalSettings, config, locals(), OF_PROMPTS)
    checked_choice(benchmark, BENCHMARKS, "benchmark")
    asks_people = statistics or sheet is not None
    if statistics + (sheet is not None) + bool(judges) != 1:
        raise UsageError("give a --judge, or --statistics, or --sheet")
    if asks_people and (benchmark != "memerag" or path is None):
        raise UsageError("--statistics and --sheet are of memerag, with its folder")
    if path is None and benchmark != "grouse":
        raise UsageError(f"give the path of the data of {benchmark}")

    from arena.statistics.agreement import Resampling
    from surrogate.metaevaluation.evaluation import evaluate_judges
    from surrogate.metaevaluation.memerag.label_spread import statistics_report
    from surrogate.metaevaluation.memerag.sentences import read_memerag
    from surrogate.metaevaluation.records import write_run

    if statistics and path is not None:
        resampling = Resampling(settings.replicates, seed=settings.seed)
        sentences = read_memerag(path, settings.languages)
        _print_report(statistics_report(sentences, resampling), as_json)
        return
    if sheet is not None and path is not None:
        _write_sheet(path, settings, templates or [], sheet, as_json)
        return
    made = _benchmark(benchmark, path, settings, templates or [])
    asked = list(dict.fromkeys([*(judges or ()), *filter(None, [settings.reference])]))
    with progress_bar() as progress:
        evaluation = evaluate_judges(made, asked, progress)
    if out is not None:
        write_run(evaluation.verdicts, out, getattr(made, "notice", ""))
    _print_report(made.report(evaluation), as_json, arena)


def _benchmark(
    name: str, path: Path | None, settings: MetaevalSettings, templates: list[str]
) -> Benchmark[Any]:
    from arena.text.prompts import read_templates

    if name == "grouse" or path is None:
        from surrogate.metaevaluation.grouse.grouse import Grouse
        from surrogate.metaevaluation.grouse.prompts import GROUSE_PROMPTS, JOINT_PROMPT

        own = read_templates(templates, [*GROUSE_PROMPTS.values(), JOINT_PROMPT])
        return Grouse.read(path, settings, own)
    if name == "wikieval":
        from surrogate.metaevaluation.wikieval.pairs import read_wikieval
        from surrogate.metaevaluation.wikieval.wikieval import WIKIEVAL_PROMPTS, Wikieval

        own = read_templates(templates, WIKIEVAL_PROMPTS)
        return Wikieval(read_wikieval(path, settings.kinds), settings, own)
    from surrogate.metaevaluation.memerag.memerag import MEMERAG_PROMPTS, Memerag
    from surrogate.metaevaluation.memerag.sentences import read_memerag

    own = read_templates(templates, MEMERAG_PROMPTS)
    sentences = read_memerag(path, settings.languages)
    return Memerag(sentences, settings, own, "faithfulness" if name == "memerag" else "relevance")


def _print_report(report: Report, as_json: bool, arena: Path | None = None) -> None:
    """Note the results in an arena's folder, if one is given, and print them."""
    from surrogate.board.judge_report import add_metaevaluations

    if arena is not None:
        add_metaevaluations(arena, report.metaevaluations)
    if as_json:
        print_json(report.as_json())
        return
    for table in report.tables:
        print_table(table.title, table.table)
        for note in table.notes:
            print(note)
    for usage in report.usages or ():
        print(usage)


def _write_sheet(
    path: Path, settings: MetaevalSettings, templates: list[str], out: Path, as_json: bool
) -> None:
    """Write a sheet for an annotator, with the support of each sentence marked if asked for."""
    from arena.llm import Budget, Llm, open_store
    from arena.text.prompts import read_templates
    from surrogate.metaevaluation.memerag import sheets
    from surrogate.metaevaluation.memerag.sentences import read_memerag

    sentences = read_memerag(path, settings.languages)
    if settings.limit is not None:
        of_language = sentences.groupby("language", sort=False)
        sentences = of_language.head(settings.limit).reset_index(drop=True)
    counts: dict[str, object] = {"file": str(out), "sentences": len(sentences)}
    if settings.highlight is not None:
        own = read_templates(templates, [sheets.HIGHLIGHT_PROMPT])
        most = settings.max_tokens or sheets.MAX_TOKENS
        update: dict[str, object] = {"model": settings.highlight, "max_tokens": most}
        update["temperature"] = sheets.TEMPERATURE
        asked = settings.model_copy(update=update).located()
        with open_store(settings.store) as store, progress_bar() as progress:
            llm = Llm(asked, store, Budget(settings.max_calls))
            found, usage = sheets.highlight_support(sentences, llm, own, progress)
        sentences = sentences.assign(passages=found["highlighted"].to_numpy())
        counts |= {
            "highlighted": int((found["references"].map(len) > 0).sum()),
            "unsupported": sum(each is False for each in found["is_supported"]),
            "unknown": int(found["is_supported"].isna().sum()),
            "usage": usage.as_json(),
        }
    sheets.write_sheet(sentences, out)
    print_json(counts) if as_json else print(
        "\n".join(f"{name}: {count}" for name, count in counts.items())
    )
