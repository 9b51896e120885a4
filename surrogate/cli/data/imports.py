"""``surrogate-arena import``: data sets of others as arena folders."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from arena.data.errors import UsageError
from surrogate.cli.group import new_group
from surrogate.cli.options import JsonOption, SeedOption, split_names

if TYPE_CHECKING:
    import pandas as pd

    from arena.adapters import ForeignArena, WrittenImport

imports = new_group(
    help="Read what others published into an arena folder: clones, or files of their schemas.",
)

OutOption = Annotated[Path, typer.Option("--out", help="Arena folder to write, whole or not.")]
ReplaceOption = Annotated[
    bool, typer.Option("--replace", help="Replace the arena folder that is there, with all in it.")
]
NameOption = Annotated[
    str | None, typer.Option("--name", help="Name of the arena; that of the kind by default.")
]
LanguageOption = Annotated[
    str | None,
    typer.Option(
        "--language", help="Language code, such as en, where folders and files do not tell."
    ),
]
ReferenceOption = Annotated[
    str | None,
    typer.Option("--reference-system", help="System whose answers serve as reference."),
]
ApartOption = Annotated[
    str | None,
    typer.Option(
        "--apart",
        help="Comma-separated systems to keep out of the arena; their answers go to "
        "apart_answers.jsonl.gz in it, to be ranked as new ones.",
    ),
]
MostPairsOption = Annotated[
    int | None,
    typer.Option(
        "--most-pairs",
        min=1,
        help="Pairs of marked answers to keep of each question and judge; all.",
    ),
]

SHOWN_REASONS = 30
Options = dict[str, object]


def import_and_print(
    kind: str,
    paths: Sequence[Path],
    out: OutOption,
    *,
    language: LanguageOption = None,
    apart: ApartOption = None,
    name: NameOption = None,
    replace_there: ReplaceOption = False,
    as_json: JsonOption = False,
    **options: object,
) -> None:
    """Read a source, write the arena, and print what was read and left out.

    Args:
        kind: One of ``arena.adapters.READERS``.
        paths: Files and folders to read.
        out: Folder to write.
        language: Language of what names none.
        apart: Comma-separated systems to keep out of the arena.
        name: Name of the arena.
        replace_there: Whether an arena that is there may be replaced.
        as_json: Print JSON instead.
        options: The reader's own; what is None is left to it.
    """
    from arena.adapters import check_import_folder, import_arena

    check_import_folder(out, replace_there)
    every = {"language": language, "name": name, **options}
    given = {key: value for key, value in every.items() if value is not None}
    read = import_arena(kind, paths, **given)
    write_and_print(read, out, split_names(apart), replace_there, as_json)


def _source(
    kind: str, paths: str, without: tuple[str, ...] = ()
) -> Callable[[Callable[..., Options]], Callable[..., None]]:
    """Make a command that imports a kind, with the options that all kinds share.

    What is decorated takes the kind's own options, and returns those of its reader.

    Args:
        kind: One of ``arena.adapters.READERS``.
        paths: What is to be given as paths.
        without: Shared options that the kind has no use for.
    """

    def decorate(own: Callable[..., Options]) -> Callable[..., None]:
        def called(paths: list[Path], **values: Any) -> None:  # noqa: ANN401 - typer's values
            every: dict[str, Any] = {
                name: values.pop(name) for name in list(values) if name in _SHARED
            }
            import_and_print(kind, paths, **(every | own(**values)))

        hints = get_type_hints(own, include_extras=True)
        first = inspect.Parameter(
            "paths",
            inspect.Parameter.POSITIONAL_OR_KEYWORD,
            annotation=Annotated[list[Path], typer.Argument(help=paths, exists=True)],
        )
        mine = [
            item.replace(annotation=hints[name])
            for name, item in inspect.signature(own).parameters.items()
        ]
        others = [item for name, item in _SHARED.items() if name not in without]
        parameters = sorted(
            [first, *mine, *others], key=lambda item: item.default is not inspect.Parameter.empty
        )
        called.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        called.__annotations__ = {item.name: item.annotation for item in parameters}
        called.__name__, called.__doc__ = own.__name__, own.__doc__
        imports.command(kind)(called)
        return called

    return decorate


_SHARED = {
    name: parameter.replace(
        annotation=get_type_hints(import_and_print, include_extras=True)[name],
        kind=inspect.Parameter.POSITIONAL_OR_KEYWORD,
    )
    for name, parameter in inspect.signature(import_and_print).parameters.items()
    if name not in ("kind", "paths", "options")
}


@_source(
    "mirage",
    "Clones of nthakur/mirage-bench, -output and -pairwise-judgments, or files of "
    "their schemas; the language is a folder's or file's name, as in en/dev-….parquet.",
)
def import_mirage(
    languages: Annotated[
        str | None, typer.Option("--languages", help="Comma-separated languages; all by default.")
    ] = None,
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


@_source(
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


@_source(
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


@_source(
    "faithjudge",
    "Clone of vectara/FaithJudge.",
    without=("language",),
)
def import_faithjudge(
    most_pairs: MostPairsOption = None,
) -> Options:
    """FaithJudge: judged answers; of two answers the one consistent with its sources wins."""
    return {"most_pairs": most_pairs}


@_source(
    "memerag",
    "Folder data/memerag of the clone, or LANGUAGE.jsonl.",
    without=("apart",),
)
def import_memerag() -> Options:
    """MEMERAG: questions, passages and answers; its labels are for 'metaeval memerag'."""
    return {}


@_source(
    "wikieval",
    "Files of explodinggradients/WikiEval (Parquet, JSONL).",
    without=("apart",),
)
def import_wikieval() -> Options:
    """WikiEval: answers made in three ways as systems, and which is better by which quality."""
    return {}


@_source(
    "grouse",
    "Unit tests of illuin/grouse (JSONL, Parquet).",
    without=("apart",),
)
def import_grouse() -> Options:
    """GroUSE: types of tests as systems, beside the answers expected; no judgments."""
    return {}


@_source(
    "csv",
    "Tables of one schema: CSV, JSONL, Parquet, or a JSON array.",
)
def import_csv(
    column: Annotated[
        list[str] | None,
        typer.Option(
            "--column",
            help="FIELD=NAME, such as question=prompt; repeatable. Fields: question, system, "
            "answer, verdict (a number, the higher the better); or question, system_a, answer_a, "
            "system_b, answer_b, winner; and query_id, language, passages, reference, judge.",
        ),
    ] = None,
    judge: Annotated[
        str | None, typer.Option("--judge", help="Judge of rows that name none.")
    ] = None,
    most_pairs: MostPairsOption = None,
    reference_system: ReferenceOption = None,
) -> Options:
    """Your own table: a row an answer, or a row a pair of answers."""
    return {
        "columns": _named_columns(column or []),
        "judge": judge,
        "most_pairs": most_pairs,
        "reference_system": reference_system,
    }


@imports.command("miracl")
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
    passages: Annotated[
        int, typer.Option("--passages", min=1, help="Passages a question by bm25.")
    ] = 5,
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


def _named_columns(given: Sequence[str]) -> dict[str, str]:
    named = {}
    for text in given:
        field, equals, column = text.partition("=")
        if not equals or not field or not column:
            raise UsageError(f"--column is {text!r}; write FIELD=NAME, such as question=prompt")
        named[field] = column
    return named


def write_and_print(
    read: ForeignArena,
    out: Path,
    apart: Sequence[str],
    is_replaced: bool,
    as_json: bool,
    left_out: pd.DataFrame | None = None,
    notes: Sequence[str] = (),
) -> None:
    """Write an arena and print what was read and left out.

    Args:
        read: The arena, and what was left out on reading.
        out: Folder to write.
        apart: Systems to keep out of the arena.
        is_replaced: Whether an arena that is there may be replaced.
        as_json: Print JSON instead.
        left_out: What was left out on choosing: ``language, reason, count``.
        notes: Sentences to print.
    """
    from arena.adapters import write_import
    from surrogate.cli import printing

    written = write_import(read, out, apart, is_replaced=is_replaced)
    if as_json:
        printing.print_json(
            {
                "arena": str(written.folder),
                "counts": written.counts,
                "features": None if written.features is None else str(written.features),
                "apart": None if written.apart is None else str(written.apart),
                "skipped": read.skipped,
                "questions_left_out": left_out,
                "note": read.arena.info.note,
                "notes": list(notes),
            }
        )
        return
    _print_written(written, read, left_out, notes)


def _print_written(
    written: WrittenImport,
    read: ForeignArena,
    left_out: pd.DataFrame | None,
    notes: Sequence[str],
) -> None:
    from surrogate.cli import printing

    counts = ", ".join(
        f"{count:,} {name.replace('_', ' ')}" for name, count in written.counts.items() if count
    )
    print(f"Arena written to {written.folder}: {counts}")
    if read.arena.info.note:
        print(f"  {read.arena.info.note}")
    if written.features is not None:
        print(f"  Published features: {written.features}, for --feature-table")
    if written.apart is not None:
        print(f"  Answers kept apart: {written.apart}, for rank")
    for note in notes:
        print(f"  {note}")
    if left_out is not None:
        for reason, rows in left_out.groupby("reason", sort=False):
            of_each = zip(rows["language"], rows["count"], strict=True)
            by_language = ", ".join(f"{code} {count:,}" for code, count in of_each)
            print(f"  Left out: {rows['count'].sum():,} {reason} ({by_language})")
    skipped = read.skipped
    if len(skipped):
        printing.print_columns("Left out", skipped.head(SHOWN_REASONS), list(skipped.columns))
    if len(skipped) > SHOWN_REASONS:
        print(f"… and {len(skipped) - SHOWN_REASONS:,} more rows; --json holds them all")
