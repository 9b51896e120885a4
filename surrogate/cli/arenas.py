"""Arena folders: ``init``, ``check``, ``select``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from arena.data.errors import DataError, UsageError
from arena.data.wording import count_of
from surrogate.cli import options as opt
from surrogate.cli.imports import import_and_print, write_and_print
from surrogate.cli.options import FILE, split_names
from surrogate.cli.printing import print_notes, print_table, show

if TYPE_CHECKING:
    from arena import Arena

FAULTY = 1
"""Exit status of an arena folder with problems."""
OF_QUESTIONS = [
    *("language", "questions", "question_length", "relevant_passages", "other_passages"),
    *("unlabeled_passages", "passage_length", "context_length"),
]
OF_ANSWERS = [
    *("language", "systems", "answers", "reason_length", "answer_length", "judgments"),
]
"""Columns of ``arena.diagnostics.arena_contents``, by the table they are shown in."""
LANGUAGE, QUESTIONS, SYSTEMS = "en", 4, 3
"""What ``init`` writes of the sample arena."""


def init(
    folder: Annotated[Path, Argument(help="Arena folder to write.")],
    table: Annotated[
        Path | None,
        Option(
            "--from", help="Table of your answers, as 'import csv' reads it, to start from.", **FILE
        ),
    ] = None,
    language: Annotated[str | None, Option(help="Language of the table, such as en.")] = None,
    replace_there: opt.Replace = False,
) -> None:
    """Write a small arena folder to put your own questions, answers and judgments into."""
    name = folder.resolve().name
    if table is not None:
        import_and_print(
            *("csv", [table], folder), replace_there=replace_there, name=name, language=language
        )
    elif language is not None:
        raise UsageError("--language is for rows of a table (--from); leave it out")
    else:
        from arena.adapters import check_import_folder
        from arena.data.files import replaced_folder
        from arena.data.folder import write_arena

        check_import_folder(folder, replace_there)
        with replaced_folder(folder) as writing:
            write_arena(_template(name), writing, ".jsonl")
        print(f"Template written to {folder}: arena.json, queries, answers and judgments (.jsonl)")
    print(f"Next:  surrogate-arena check {folder}")


def _template(name: str) -> Arena:
    """Cut a few questions, answers and judgments out of the simulated sample arena."""
    from arena.generation import select_part
    from arena.simulation import sample_arena

    whole = sample_arena()
    systems = list(whole.info.systems[:SYSTEMS])
    part = select_part(whole, [LANGUAGE], systems).arena
    asked = part.queries.head(QUESTIONS)
    tables = {
        table: getattr(part, table)[getattr(part, table)["query_id"].isin(asked["query_id"])]
        for table in ("answers", "judgments")
    }
    note = "A template: its questions, systems, answers and judgments are made up; put your own "
    note += "in their place."
    info = part.info.model_copy(update={"name": name, "note": note, "reference_system": None})
    return replace(part, info=info, queries=asked, **tables)


def check(
    source: Annotated[
        Path,
        Argument(metavar="ARENA", help="Arena folder, or file of a store of replies.", exists=True),
    ],
    systems: Annotated[
        str | None, Option(help="Comma-separated systems to count answers of. Default: all")
    ] = None,
    tokenizer: Annotated[
        Path | None,
        Option(
            help="A model's tokenizer.json, to count tokens instead of words between spaces.",
            **FILE,
        ),
    ] = None,
    as_json: opt.Json = False,
) -> None:
    """Report every problem of an arena, what it lacks, and what it holds, by language.

    The status is 1 if there are problems. Of a store of replies, every row is checked and counted.
    """
    from arena.diagnostics import arena_contents, white_space_words
    from arena.generation import read_arena_to_answer
    from arena.llm.store import describe_store
    from arena.text.prompts import read_tokenizer

    try:
        if source.is_file():
            show({"problems": [], "replies": describe_store(source)}, as_json)
            return
        read = read_arena_to_answer(source)
    except (DataError, UsageError) as error:
        if source.is_file() and isinstance(error, UsageError):
            raise
        problems = list(map(str, getattr(error, "problems", [error])))
        if as_json:
            show({"problems": problems}, as_json)
        else:
            print("\n".join([*problems, f"{count_of(len(problems), 'problem')} in {source}"]))
        raise SystemExit(FAULTY) from None
    counted = None if tokenizer is None else read_tokenizer(tokenizer)
    unit = "words" if counted is None else f"tokens of {counted.name}"
    length = counted.count if counted else white_space_words
    contents = arena_contents(read, length, split_names(systems))
    gaps = list(gaps_of(read))
    if as_json:
        show({"problems": [], "unit": unit, "languages": contents, "gaps": gaps}, as_json)
        return
    print(f"Arena {read.info.name}: no problems")
    print_table(
        f"Questions and passages, means of a question; lengths in {unit}", contents[OF_QUESTIONS]
    )
    print_table(f"Answers and judgments; lengths in {unit}", contents[OF_ANSWERS])
    print(f"Systems: {', '.join(read.info.systems) or 'none'}")
    print(f"Judges: {', '.join(read.judges) or 'none'}")
    print_notes(gaps)


def gaps_of(arena: Arena) -> Iterator[str]:
    """Say what an arena lacks that it need not have: answers, judgments, passages."""
    from arena.data.schema import QUESTION_KEY
    from arena.data.systems import alike
    from arena.diagnostics.contents import same_answer_findings

    for first, name in alike([*arena.info.systems, *arena.judges]):
        yield f"the names {first!a} and {name!a} look alike"
    keys = arena.answers[[*QUESTION_KEY, "system"]].agg(tuple, axis=1)
    sides = [[*QUESTION_KEY, side] for side in ("system_a", "system_b")]
    absent = sum(~arena.judgments[side].agg(tuple, axis=1).isin(set(keys)) for side in sides)
    if len(arena.judgments) and (absent > 0).any():
        yield f"{count_of((absent > 0).sum(), 'judgment')} of answers that are not in the arena"
    yield from map(str, same_answer_findings(arena))
    rated, questions = set(arena.rated_systems), len(arena.queries)
    answered = arena.answers["system"].value_counts()
    for system in arena.info.systems:
        if system not in answered and system in rated:
            yield f"{system} is judged and has no answer: were its answers lost?"
        elif (found := int(answered.get(system, 0))) < questions:
            yield f"{system} has answers to {found} of {count_of(questions, 'question')}"
    without = sum(not passages for passages in arena.queries["passages"])
    if without:
        yield f"{without} of {count_of(questions, 'question')} without passages of their own"
    if not arena.judges:
        yield "nobody has judged:  surrogate-arena judge ARENA --model MODEL --dry-run"
        return
    for system in arena.info.systems:
        if system not in rated:
            yield f"{system} has no judgment"
    judged = len(arena.judgments.drop_duplicates(QUESTION_KEY))
    if len(arena.judgments) and judged < questions:
        yield f"{judged} of {count_of(questions, 'question')} with judgments"


def select(
    arena: opt.Arena,
    out: opt.ArenaFolder,
    languages: opt.Languages = None,
    systems: Annotated[str | None, Option(help="Comma-separated systems. Default: all")] = None,
    judges: Annotated[str | None, Option(help="Comma-separated judges. Default: all")] = None,
    only_hard: Annotated[
        bool, Option("--only-hard", help="Only questions with a passage labeled not relevant.")
    ] = False,
    at_least: Annotated[
        int, Option(min=0, help="With --only-hard: fill up smaller languages with others.")
    ] = 0,
    bm25: Annotated[
        int | None, Option(min=1, help="Show N best passages by BM25, one relevant (MEMERAG: 5).")
    ] = None,
    corpus: Annotated[
        list[Path] | None,
        Option(
            help="With --bm25: JSONL with docid, title, text to search; repeatable. "
            "Default: a question's own passages"
        ),
    ] = None,
    least_words: Annotated[
        int, Option(min=0, help="Leave out questions with an answer of fewer words (MEMERAG: 10).")
    ] = 0,
    questions: Annotated[
        int | None, Option(min=1, help="Questions to draw a language. Default: all")
    ] = None,
    others: Annotated[
        bool, Option("--others", help="With --questions: invert the draw (test split).")
    ] = False,
    one_answer: Annotated[
        bool, Option("--one-answer", help="Keep one answer a question, each system as many.")
    ] = False,
    seed: opt.Seed = 0,
    replace_there: opt.Replace = False,
    as_json: opt.Json = False,
) -> None:
    """Cut an arena down: to some languages, systems or judges, or to an evaluation set."""
    import pandas as pd

    from arena.adapters import ForeignArena, check_import_folder, read_corpus
    from arena.data.folder import read_arena
    from arena.generation import (
        AnswerRules,
        QuestionRules,
        read_arena_to_answer,
        select_answers,
        select_context,
        select_part,
        select_questions,
    )

    if others and questions is None:
        raise UsageError("--others keeps what --questions does not draw; give both")
    if corpus and bm25 is None:
        raise UsageError("--corpus is what --bm25 selects from; give both")
    check_import_folder(out, replace_there)
    there = read_arena(arena) if least_words or one_answer else read_arena_to_answer(arena)
    part = select_part(there, *(split_names(each) or None for each in (languages, systems, judges)))
    hard = select_questions(part.arena, QuestionRules(only_hard, at_least, seed=seed))
    rules = AnswerRules(least_words, questions, others, one_answer, seed)
    chosen = select_answers(hard.arena, rules)
    kept, notes = chosen.arena, []
    if bm25 is not None:
        codes = kept.info.languages
        only = codes[0] if len(codes) == 1 else None
        whole = read_corpus(corpus, only, codes) if corpus else None
        selected = select_context(kept.queries, whole, bm25)
        kept = replace(kept, queries=selected.queries)
        notes = [
            f"BM25: the last passage of {count_of(selected.replaced, 'question')} made room for a "
            "relevant one",
            f"BM25: {count_of(selected.without_relevant, 'question')} without a relevant passage",
        ]
    counts = pd.concat([part.counts, hard.counts, chosen.counts], ignore_index=True)
    nothing = pd.DataFrame(columns=["source", "item", "reason", "count"])
    read = ForeignArena(kept, nothing)
    write_and_print(read, out, [], replace_there, as_json, counts, notes)
