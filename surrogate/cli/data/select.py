"""``surrogate-arena select``: a part of an arena, or an evaluation set of it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from arena.data.errors import UsageError
from arena.data.wording import count_of
from surrogate.cli.data.imports import OutOption, ReplaceOption, write_and_print
from surrogate.cli.options import (
    ArenaArgument,
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
    at_least: Annotated[
        int,
        typer.Option(
            "--at-least",
            min=0,
            help="With --only-hard: fill up languages with fewer questions from the others.",
        ),
    ] = 0,
    bm25: Annotated[
        int | None,
        typer.Option(
            "--bm25",
            min=1,
            help="Show each question its best passages by BM25 alone, so many, one relevant among "
            "them (MEMERAG: 5).",
        ),
    ] = None,
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
    hard = select_questions(part.arena, QuestionRules(only_hard, at_least, seed=seed))
    rules = AnswerRules(least_words, questions, others, one_answer, seed)
    chosen = select_answers(hard.arena, rules)
    kept, notes = with_context(chosen.arena, bm25, corpus or [])
    counts = pd.concat([part.counts, hard.counts, chosen.counts], ignore_index=True)
    nothing = pd.DataFrame(columns=["source", "item", "reason", "count"])
    read = ForeignArena(kept, nothing)
    write_and_print(read, out, [], replace_there, as_json, counts, notes)


def with_context(
    arena: Arena, passages: int | None, corpus: Sequence[Path]
) -> tuple[Arena, list[str]]:
    """Give each question the best passages by BM25, if asked; returns what there is to say of it.

    Args:
        arena: Questions with their own passages.
        passages: Passages a question; None leaves them as they are.
        corpus: Files to select from; each question's own passages if there are none.

    Raises:
        UsageError: If there is a corpus that nothing is selected from.
    """
    from arena.adapters import read_corpus
    from arena.generation import select_context

    if passages is None:
        if corpus:
            raise UsageError("--corpus is what --bm25 selects from; give both")
        return arena, []
    codes = arena.info.languages
    only = codes[0] if len(codes) == 1 else None
    whole = read_corpus(corpus, only, codes) if corpus else None
    selected = select_context(arena.queries, whole, passages)
    return replace(arena, queries=selected.queries), [
        f"BM25: in {count_of(selected.replaced, 'question')} the last passage made room for a "
        "relevant one",
        f"BM25: {count_of(selected.without_relevant, 'question')} without a relevant passage",
    ]
