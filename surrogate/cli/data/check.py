"""``surrogate-arena check``: what is wrong in an arena folder or a store, and what is in it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from arena.data.wording import count_of
from surrogate.cli.options import FILE, JsonOption, split_names

if TYPE_CHECKING:
    import pandas as pd

    from arena.data.arena import Arena

FAULTY = 1
"""Exit status of an arena folder with problems."""
TABLES = {
    "Questions and passages; means of a question, lengths": {
        "questions": "questions",
        "question_length": "a question",
        "relevant_passages": "relevant",
        "other_passages": "other",
        "unlabeled_passages": "unlabeled",
        "passage_length": "a passage",
        "context_length": "all passages",
    },
    "Answers and judgments; lengths": {
        "systems": "systems",
        "answers": "answers",
        "reason_length": "a reason",
        "answer_length": "an answer",
        "judgments": "judgments",
    },
}
"""Columns of ``arena.diagnostics.arena_contents`` by table, and what they are called."""


def check(
    source: Annotated[
        Path,
        typer.Argument(
            metavar="ARENA", help="Arena folder, or file of a store of replies.", exists=True
        ),
    ],
    systems: Annotated[
        str | None,
        typer.Option("--systems", help="Comma-separated systems whose answers are counted; all."),
    ] = None,
    tokenizer: Annotated[
        Path | None,
        typer.Option(
            "--tokenizer",
            help="A model's tokenizer.json, to count tokens; else words between white space, of "
            "which some scripts have hardly any.",
            **FILE,
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Report every problem of an arena, what it lacks, and what it holds, by language.

    The status is 1 if there are problems. Of a store of replies, every row is checked and counted.
    """
    from arena.data.errors import DataError, UsageError
    from arena.generation import read_arena_to_answer
    from surrogate.cli import printing

    if source.is_file():
        _check_store(source, as_json)
        return
    try:
        read = read_arena_to_answer(source)
    except (DataError, UsageError) as error:
        problems = list(map(str, getattr(error, "problems", [error])))
        if as_json:
            printing.print_json({"problems": problems, "languages": None, "gaps": []})
        else:
            print("\n".join([*problems, f"{count_of(len(problems), 'problem')} in {source}"]))
        raise SystemExit(FAULTY) from None
    unit, contents = _contents(read, split_names(systems), tokenizer)
    gaps = list(gaps_of(read))
    if as_json:
        shown = {"problems": [], "unit": unit, "languages": contents, "gaps": gaps}
        printing.print_json(shown)
    else:
        _print(read, unit, contents, gaps)


def _contents(arena: Arena, systems: list[str], tokenizer: Path | None) -> tuple[str, pd.DataFrame]:
    """Count what an arena holds by language, lengths in words or tokens."""
    from arena.diagnostics import arena_contents, white_space_words
    from arena.text.trimming import read_tokenizer

    counted = None if tokenizer is None else read_tokenizer(tokenizer)
    unit = "words" if counted is None else f"tokens of {counted.name}"
    length = white_space_words if counted is None else counted.count
    return unit, arena_contents(arena, length, systems)


def _check_store(path: Path, as_json: bool) -> None:
    from arena.data.errors import DataError
    from arena.llm.store import describe_store
    from surrogate.cli import printing

    try:
        table = describe_store(path)
    except DataError as error:
        printing.print_json({"problems": list(map(str, error.problems))}) if as_json else print(
            error
        )
        raise SystemExit(FAULTY) from error
    if as_json:
        printing.print_json({"problems": [], "replies": table})
    else:
        printing.print_columns("Replies in the store: no problems", table, list(table))


def gaps_of(arena: Arena) -> Iterator[str]:
    """Say what an arena lacks that it need not have: answers, judgments, passages."""
    from arena.data.schema import QUESTION_KEY
    from arena.data.systems import alike
    from arena.diagnostics.contents import same_answer_findings

    for first, name in alike([*arena.info.systems, *arena.judges]):
        yield f"the names {first!a} and {name!a} look alike"
    if absent := unanswered(arena):
        yield f"{count_of(absent, 'judgment')} of answers that are not in the arena"
    yield from map(str, same_answer_findings(arena))
    rated = set(arena.rated_systems)
    questions = len(arena.queries)
    for system in arena.info.systems:
        answers = int((arena.answers["system"] == system).sum())
        if not answers and system in rated:
            yield f"{system} is judged and has no answer: were its answers lost?"
        elif answers < questions:
            yield f"{system} has answers to {answers} of {count_of(questions, 'question')}"
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


def unanswered(arena: Arena) -> int:
    """Count judgments of an answer that the arena does not have."""
    import pandas as pd

    from arena.data.schema import ANSWER_KEY, QUESTION_KEY

    there = pd.MultiIndex.from_frame(arena.answers[ANSWER_KEY])
    absent = pd.Series(False, index=arena.judgments.index)
    for side in ("system_a", "system_b"):
        keys = arena.judgments[[*QUESTION_KEY, side]]
        absent |= ~pd.MultiIndex.from_frame(keys).isin(there)
    return int(absent.sum())


def _print(arena: Arena, unit: str, contents: pd.DataFrame, gaps: list[str]) -> None:
    from surrogate.cli import printing

    print(f"Arena {arena.info.name}: no problems")
    for title, columns in TABLES.items():
        rows = contents[["language", *columns]].itertuples(index=False, name=None)
        header = ["language", *columns.values()]
        printing.print_table(f"{title} in {unit}", header, [list(row) for row in rows])
    print(f"Systems: {', '.join(arena.info.systems) or 'none'}")
    print(f"Judges: {', '.join(arena.judges) or 'none'}")
    for gap in gaps[: printing.SHOWN_NOTES]:
        print(f"Note: {gap}")
    if len(gaps) > printing.SHOWN_NOTES:
        print(f"… and {len(gaps) - printing.SHOWN_NOTES} more notes; --json holds them all")
