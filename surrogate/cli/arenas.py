"""Arena folders: ``init``, ``check``, ``select``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from arena.data.errors import DataError, UsageError
from arena.data.wording import count_of
from surrogate.cli.imports import import_and_print, write_and_print
from surrogate.cli.options import (
    FILE,
    ArenaArgument,
    ArenaFolderOption,
    JsonOption,
    LanguagesOption,
    ReplaceOption,
    SeedOption,
    split_names,
)
from surrogate.cli.printing import print_json, print_notes, print_table

if TYPE_CHECKING:
    from arena import Arena

FAULTY = 1
"""Exit status of an arena folder with problems."""
CONTENTS = MappingProxyType(
    {
        "Questions and passages: means of a question; lengths in {}": {
            "questions": "questions",
            "question_length": "a question",
            "relevant_passages": "relevant",
            "other_passages": "other",
            "unlabeled_passages": "unlabeled",
            "passage_length": "a passage",
            "context_length": "all passages",
        },
        "Answers and judgments; lengths in {}": {
            "systems": "systems",
            "answers": "answers",
            "reason_length": "a reason",
            "answer_length": "an answer",
            "judgments": "judgments",
        },
    }
)
"""Columns of ``arena.diagnostics.arena_contents`` by table, and what they are called."""
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
    replace_there: ReplaceOption = False,
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
    from arena.simulation import sample_arena

    whole = sample_arena()
    systems = list(whole.info.systems[:SYSTEMS])
    part = whole.part([LANGUAGE], systems)
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
        str | None,
        Option(help="Comma-separated systems to count answers of. Default: all"),
    ] = None,
    tokenizer: Annotated[
        Path | None,
        Option(
            help="A model's tokenizer.json, to count tokens instead of words between spaces.",
            **FILE,
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Report every problem of an arena, what it lacks, and what it holds, by language.

    The status is 1 if there are problems. Of a store of replies, every row is checked and counted.
    """
    from arena.generation import read_arena_to_answer
    from arena.llm.store import describe_store

    try:
        if source.is_file():
            replies = describe_store(source)
        else:
            read = read_arena_to_answer(source)
    except (DataError, UsageError) as error:
        if source.is_file() and isinstance(error, UsageError):
            raise
        problems = list(map(str, getattr(error, "problems", [error])))
        if as_json:
            print_json({"problems": problems})
        else:
            print("\n".join([*problems, f"{count_of(len(problems), 'problem')} in {source}"]))
        raise SystemExit(FAULTY) from None
    if source.is_dir():
        _show_arena(read, split_names(systems), tokenizer, as_json)
    elif as_json:
        print_json({"problems": [], "replies": replies})
    else:
        print_table("Replies in the store: no problems", replies)


def _show_arena(
    arena: Arena, systems: Sequence[str], tokenizer: Path | None, as_json: bool
) -> None:
    from arena.diagnostics import arena_contents, white_space_words
    from arena.text.trimming import read_tokenizer

    counted = None if tokenizer is None else read_tokenizer(tokenizer)
    unit = "words" if counted is None else f"tokens of {counted.name}"
    contents = arena_contents(arena, counted.count if counted else white_space_words, systems)
    gaps = list(gaps_of(arena))
    if as_json:
        print_json({"problems": [], "unit": unit, "languages": contents, "gaps": gaps})
        return
    print(f"Arena {arena.info.name}: no problems")
    for title, columns in CONTENTS.items():
        print_table(title.format(unit), contents[["language", *columns]].rename(columns=columns))
    print(f"Systems: {', '.join(arena.info.systems) or 'none'}")
    print(f"Judges: {', '.join(arena.judges) or 'none'}")
    print_notes(gaps)


def gaps_of(arena: Arena) -> Iterator[str]:
    """Say what an arena lacks that it need not have: answers, judgments, passages."""
    from arena.data.schema import QUESTION_KEY
    from arena.data.systems import alike
    from arena.diagnostics.contents import same_answer_findings

    for first, name in alike([*arena.info.systems, *arena.judges]):
        yield f"the names {first!a} and {name!a} look alike"
    if absent := _without_answer(arena):
        yield f"{count_of(absent, 'judgment')} of answers that are not in the arena"
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


def _without_answer(arena: Arena) -> int:
    """Count judgments of an answer that the arena does not have."""
    import pandas as pd

    from arena.data.schema import ANSWER_KEY, QUESTION_KEY

    there = pd.MultiIndex.from_frame(arena.answers[ANSWER_KEY])
    absent = pd.Series(False, index=arena.judgments.index)
    for side in ("system_a", "system_b"):
        keys = arena.judgments[[*QUESTION_KEY, side]]
        absent |= ~pd.MultiIndex.from_frame(keys).isin(there)
    return int(absent.sum())


def select(
    arena: ArenaArgument,
    out: ArenaFolderOption,
    languages: LanguagesOption = None,
    systems: Annotated[str | None, Option(help="Comma-separated systems. Default: all")] = None,
    judges: Annotated[str | None, Option(help="Comma-separated judges. Default: all")] = None,
    only_hard: Annotated[
        bool,
        Option("--only-hard", help="Only questions with a passage labeled not relevant."),
    ] = False,
    at_least: Annotated[
        int,
        Option(min=0, help="With --only-hard: fill up smaller languages with others."),
    ] = 0,
    bm25: Annotated[
        int | None,
        Option(min=1, help="Show N best passages by BM25, one relevant (MEMERAG: 5)."),
    ] = None,
    corpus: Annotated[
        list[Path] | None,
        Option(
            help="With --bm25: JSONL with docid, title, text to search; repeatable. "
            "Default: a question's own passages",
        ),
    ] = None,
    least_words: Annotated[
        int,
        Option(
            min=0,
            help="Leave out questions with an answer of fewer words (MEMERAG: 10).",
        ),
    ] = 0,
    questions: Annotated[
        int | None,
        Option(min=1, help="Questions to draw a language. Default: all"),
    ] = None,
    others: Annotated[
        bool, Option("--others", help="With --questions: invert the draw (test split).")
    ] = False,
    one_answer: Annotated[
        bool,
        Option("--one-answer", help="Keep one answer a question, each system as many."),
    ] = False,
    seed: SeedOption = 0,
    replace_there: ReplaceOption = False,
    as_json: JsonOption = False,
) -> None:
    """Cut an arena down: to some languages, systems or judges, or to an evaluation set."""
    import pandas as pd

    from arena.adapters import ForeignArena, check_import_folder
    from arena.data.folder import read_arena
    from arena.generation import SetRules, evaluation_set, read_arena_to_answer

    if others and questions is None:
        raise UsageError("--others keeps what --questions does not draw; give both")
    check_import_folder(out, replace_there)
    there = read_arena(arena) if least_words or one_answer else read_arena_to_answer(arena)
    part = there.part(*(split_names(each) or None for each in (languages, systems, judges)))
    rules = SetRules(only_hard, at_least, least_words, questions, others, one_answer, seed)
    chosen, counts = evaluation_set(part, rules)
    kept, notes = _with_context(chosen, bm25, corpus or [])
    nothing = pd.DataFrame(columns=["source", "item", "reason", "count"])
    read = ForeignArena(kept, nothing)
    write_and_print(read, out, [], replace_there, as_json, counts, notes)


def _with_context(
    arena: Arena, passages: int | None, corpus: Sequence[Path]
) -> tuple[Arena, list[str]]:
    """Give each question the best passages by BM25, if asked; returns what there is to say."""
    if passages is None:
        if corpus:
            raise UsageError("--corpus is what --bm25 selects from; give both")
        return arena, []
    from arena.adapters import read_corpus
    from arena.generation import select_context

    codes = arena.info.languages
    whole = read_corpus(corpus, codes[0] if len(codes) == 1 else None, codes) if corpus else None
    selected = select_context(arena.queries, whole, passages)
    return replace(arena, queries=selected.queries), [
        f"BM25: in {count_of(selected.replaced, 'question')} the last passage made room for a "
        "relevant one",
        f"BM25: {count_of(selected.without_relevant, 'question')} without a relevant passage",
    ]
