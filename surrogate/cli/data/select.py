"""``surrogate-arena select`` and ``statistics``: an arena cut down, and what one holds."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from arena.data.errors import UsageError
from arena.data.wording import count_of
from surrogate.cli.data.imports.sources import OutOption, ReplaceOption, write_and_print
from surrogate.cli.options import (
    FOLDER,
    ArenaArgument,
    Bm25PassagesOption,
    JsonOption,
    LanguagesOption,
    SeedOption,
    split_names,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from arena import Arena


def select(
    arena: ArenaArgument,
    out: OutOption,
    languages: LanguagesOption = None,
    systems: Annotated[
        str | None,
        typer.Option(
            "--systems",
            help="Comma-separated systems, the reference system among them; all by default.",
        ),
    ] = None,
    judges: Annotated[
        str | None, typer.Option("--judges", help="Comma-separated judges; all by default.")
    ] = None,
    only_hard: Annotated[
        bool,
        typer.Option(
            "--only-hard", help="Leave out questions without a passage labeled not relevant."
        ),
    ] = False,
    context: Annotated[
        str,
        typer.Option(
            "--context",
            help="Passages shown: own, or bm25 (the best, one relevant among them; MEMERAG).",
        ),
    ] = "own",
    passages: Bm25PassagesOption = 5,
    corpus: Annotated[
        list[Path] | None,
        typer.Option(
            "--corpus",
            help="JSONL with docid, title, text to select from, instead of a question's own "
            "passages; repeatable.",
        ),
    ] = None,
    least_words: Annotated[
        int,
        typer.Option(
            "--least-words",
            min=0,
            help="Leave out questions to which any system gave an answer of fewer words; "
            "MEMERAG's number is 10.",
        ),
    ] = 0,
    questions: Annotated[
        int | None,
        typer.Option("--questions", min=1, help="Questions drawn of each language; all."),
    ] = None,
    others: Annotated[
        bool,
        typer.Option(
            "--others", help="With --questions: keep the others, such as to test on them."
        ),
    ] = False,
    one_answer: Annotated[
        bool,
        typer.Option(
            "--one-answer",
            help="Keep one answer a question, each system as many (MEMERAG: 50 of 250).",
        ),
    ] = False,
    seed: SeedOption = 0,
    replace_there: ReplaceOption = False,
    as_json: JsonOption = False,
) -> None:
    """Cut an arena down: to some languages, systems or judges, or to an evaluation set."""
    import pandas as pd

    from arena.adapters import ForeignArena, check_import_folder
    from arena.data.folder import read_arena
    from arena.generation import (
        AnswerRules,
        QuestionRules,
        read_arena_to_answer,
        select_answers,
        select_part,
        select_questions,
    )

    if others and questions is None:
        raise UsageError("--others keeps what --questions does not draw; give both")
    check_import_folder(out, replace_there)
    is_answered = bool(least_words or one_answer)
    there = read_arena(arena) if is_answered else read_arena_to_answer(arena)
    named = (split_names(text) or None for text in (languages, systems, judges))
    part = select_part(there, *named)
    hard = select_questions(part.arena, QuestionRules(only_hard, seed=seed))
    rules = AnswerRules(least_words, questions, others, one_answer, seed)
    chosen = select_answers(hard.arena, rules)
    kept, notes = with_context(chosen.arena, context, corpus or [], passages)
    counts = pd.concat([part.counts, hard.counts, chosen.counts], ignore_index=True)
    nothing = pd.DataFrame(columns=["source", "item", "reason", "count"])
    read = ForeignArena(kept, nothing)
    write_and_print(read, out, [], replace_there, as_json, counts, notes)


def with_context(
    arena: Arena,
    context: str,
    corpus: Sequence[Path],
    passages: int,
    language: str | None = None,
) -> tuple[Arena, list[str]]:
    """Give each question the best passages by BM25, if asked; returns what there is to say of it.

    Args:
        arena: Questions with their own passages.
        context: ``bm25``, or what leaves the passages as they are.
        corpus: Files to select from; each question's own passages if there are none.
        passages: Passages a question.
        language: Language of the corpus files, where names do not tell.

    Raises:
        UsageError: For an unknown context, or a corpus that nothing is selected from.
    """
    from arena.adapters import read_corpus
    from arena.generation import select_context

    if context not in ("own", "judged", "bm25"):
        raise UsageError(f"--context is {context!r}; use bm25, or leave it out")
    if context != "bm25":
        return arena, []
    whole = read_corpus(corpus, language, arena.info.languages) if corpus else None
    selected = select_context(arena.queries, whole, passages)
    return replace(arena, queries=selected.queries), [
        f"BM25: in {count_of(selected.replaced, 'question')} the last passage made room for a "
        "relevant one",
        f"BM25: {count_of(selected.without_relevant, 'question')} without a relevant passage",
    ]


def statistics(
    arena: Annotated[
        Path, typer.Argument(help="Arena folder; it need not hold answers yet.", **FOLDER)
    ],
    systems: Annotated[
        str | None,
        typer.Option("--systems", help="Comma-separated systems whose answers count; all."),
    ] = None,
    tokenizer: Annotated[
        Path | None,
        typer.Option(
            "--tokenizer",
            help="A model's tokenizer.json, to count tokens; else words between white space, of "
            "which some scripts have hardly any.",
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Count what an arena holds by language: questions, passages, answers, and their lengths."""
    from arena.diagnostics import arena_contents, white_space_words
    from arena.generation import read_arena_to_answer
    from arena.text.trimming import read_tokenizer
    from surrogate.cli import printing

    counted = None if tokenizer is None else read_tokenizer(tokenizer)
    unit = "words" if counted is None else f"tokens of {counted.name}"
    length = white_space_words if counted is None else counted.count
    table = arena_contents(read_arena_to_answer(arena), length, split_names(systems))
    if as_json:
        printing.print_json({"unit": unit, "languages": table})
        return
    shown = {
        f"Questions and passages; means of a question, lengths in {unit}": {
            "questions": "questions",
            "question_length": "a question",
            "relevant_passages": "relevant",
            "other_passages": "other",
            "unlabeled_passages": "unlabeled",
            "passage_length": "a passage",
            "context_length": "all passages",
        },
        f"Answers and judgments; lengths in {unit}": {
            "systems": "systems",
            "answers": "answers",
            "reason_length": "a reason",
            "answer_length": "an answer",
            "judgments": "judgments",
        },
    }
    for title, columns in shown.items():
        rows = table[["language", *columns]].itertuples(index=False, name=None)
        header = ["language", *columns.values()]
        printing.print_table(title, header, [list(row) for row in rows])
