"""``surrogate-arena import``: data sets that were published, as arena folders."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from arena.data.errors import UsageError
from surrogate.cli.data.imports.sources import (
    LanguageOption,
    MostPairsOption,
    NameOption,
    Options,
    OutOption,
    ReferenceOption,
    ReplaceOption,
    source_command,
    write_and_print,
)
from surrogate.cli.options import (
    Bm25PassagesOption,
    JsonOption,
    LanguagesOption,
    SeedOption,
    split_names,
)


@source_command(
    "mirage",
    "Clones of nthakur/mirage-bench, -output and -pairwise-judgments, or files of "
    "their schemas; the language is a folder's or file's name, as in en/dev-….parquet.",
)
def import_mirage(
    languages: LanguagesOption = None,
    split: Annotated[str, typer.Option("--split", help="Files of other splits are left out.")] = (
        "dev"
    ),
    reference_system: ReferenceOption = None,
) -> Options:
    """MIRAGE-Bench: questions, answers, judgments, and published features as a feature table."""
    return {
        "languages": split_names(languages),
        "split": split,
        "reference_system": reference_system,
    }


@source_command(
    "lmarena",
    "Files of battles: model_a, model_b, winner; with conversations or without.",
)
def import_lmarena(
    other_languages: Annotated[
        str | None,
        typer.Option("--other-languages", help="Code for languages whose name is not known."),
    ] = None,
    judge: Annotated[
        str | None, typer.Option("--judge", help="Name of the judge of all battles.")
    ] = None,
    both_bad: Annotated[
        str, typer.Option("--both-bad", help="What 'both are bad' counts as: tie or 'leave out'.")
    ] = "tie",
) -> Options:
    """LMArena's battles."""
    return {"other_languages": other_languages, "judge": judge, "both_bad": both_bad}


@source_command(
    "alpacaeval",
    "Clone of tatsu-lab/alpaca_eval, or folders of systems in results/.",
)
def import_alpacaeval(
    annotator: Annotated[
        str | None,
        typer.Option("--annotator", help="Whose verdicts; AlpacaEval 2's by default."),
    ] = None,
    leaderboard: Annotated[
        Path | None,
        typer.Option("--leaderboard", help="CSV file of the leaderboard; else the clone's."),
    ] = None,
    reference_system: ReferenceOption = None,
) -> Options:
    """AlpacaEval: answers, verdicts against the reference, win rates as published ratings."""
    return {
        "annotator": annotator,
        "leaderboard": leaderboard,
        "reference_system": reference_system,
    }


@source_command(
    "faithjudge",
    "Clone of vectara/FaithJudge.",
    without=("language",),
)
def import_faithjudge(
    most_pairs: MostPairsOption = None,
) -> Options:
    """FaithJudge: judged answers; of two answers the one consistent with its sources wins."""
    return {"most_pairs": most_pairs}


@source_command(
    "memerag",
    "Folder data/memerag of the clone, or LANGUAGE.jsonl.",
    without=("apart",),
)
def import_memerag() -> Options:
    """MEMERAG: questions, passages and answers; its labels are for 'metaeval memerag'."""
    return {}


@source_command(
    "wikieval",
    "Files of explodinggradients/WikiEval (Parquet, JSONL).",
    without=("apart",),
)
def import_wikieval() -> Options:
    """WikiEval: answers made in three ways as systems, and which is better by which quality."""
    return {}


@source_command(
    "grouse",
    "Unit tests of illuin/grouse (JSONL, Parquet).",
    without=("apart",),
)
def import_grouse() -> Options:
    """GroUSE: types of tests as systems, beside the answers expected; no judgments."""
    return {}


def import_miracl(
    queries: Annotated[
        list[Path],
        typer.Option(
            "--queries",
            help="Topics (id, tab, question), or JSONL with positive_passages and "
            "negative_passages; files or folders, repeatable.",
        ),
    ],
    out: OutOption,
    qrels: Annotated[
        list[Path] | None,
        typer.Option("--qrels", help="Relevance files in TREC's form; repeatable."),
    ] = None,
    corpus: Annotated[
        list[Path] | None,
        typer.Option("--corpus", help="JSONL with docid, title, text; repeatable."),
    ] = None,
    context: Annotated[
        str,
        typer.Option(
            "--context",
            help="Passages shown: judged (all that were judged, as in MIRAGE-Bench), or bm25 (the "
            "best of the corpus, one relevant among them, as in MEMERAG).",
        ),
    ] = "judged",
    passages: Bm25PassagesOption = 5,
    keep_easy: Annotated[
        bool,
        typer.Option("--keep-easy", help="Keep questions without a passage labeled not relevant."),
    ] = False,
    at_least: Annotated[
        int,
        typer.Option(
            "--at-least",
            min=0,
            help="Where a language has fewer questions, fill up with ones without such a passage.",
        ),
    ] = 0,
    sample: Annotated[
        int | None, typer.Option("--sample", min=1, help="Questions drawn of each language; all.")
    ] = None,
    seed: SeedOption = 0,
    language: LanguageOption = None,
    name: NameOption = None,
    replace_there: ReplaceOption = False,
    as_json: JsonOption = False,
) -> None:
    """MIRACL's questions as an evaluation set, to be answered with 'generate'."""
    from arena.adapters import check_import_folder, import_arena
    from arena.generation import QuestionRules, select_questions
    from surrogate.cli.data.select import with_context

    check_import_folder(out, replace_there)
    if context == "bm25" and not corpus:
        raise UsageError("--context bm25 selects from a corpus; name it with --corpus")
    options = {"qrels": qrels or [], "corpus": corpus or [], "language": language}
    read = import_arena("miracl", queries, **options, **({"name": name} if name else {}))
    rules = QuestionRules(not keep_easy, at_least, sample, seed)
    chosen = select_questions(read.arena, rules)
    arena, notes = with_context(chosen.arena, context, corpus or [], passages, language)
    chosen_arena = replace(read, arena=arena)
    write_and_print(chosen_arena, out, [], replace_there, as_json, chosen.counts, notes)
