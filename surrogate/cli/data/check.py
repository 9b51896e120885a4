"""``surrogate-arena check``: everything that is wrong in an arena folder, and what is in it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from arena.data.wording import count_of
from surrogate.cli.options import JsonOption

if TYPE_CHECKING:
    import pandas as pd

    from arena.data.arena import Arena

FAULTY = 1
"""Exit status of an arena folder with problems."""


def check(
    arena: Annotated[
        Path, typer.Argument(help="Arena folder, or a store of models' replies.", exists=True)
    ],
    as_json: JsonOption = False,
) -> None:
    """Read all of an arena folder or a store and say every problem, or what it holds.

    The status is 1 if there are problems.
    """
    from arena.data.errors import DataError, UsageError
    from arena.generation import read_arena_to_answer
    from surrogate.cli import printing

    if arena.is_file():
        _check_store(arena, as_json)
        return
    read, problems = None, []
    try:
        read = read_arena_to_answer(arena)
    except DataError as error:
        problems = [str(problem) for problem in error.problems]
    except UsageError as error:
        problems = [str(error)]
    counts = None if read is None else read.counts()
    gaps = [] if read is None else list(gaps_of(read))
    if as_json:
        printing.print_json({"problems": problems, "languages": counts, "gaps": gaps})
    elif read is not None and counts is not None:
        _print(read, counts, gaps)
    for problem in () if as_json else problems:
        print(problem)
    if problems:
        if not as_json:
            print(f"{count_of(len(problems), 'problem')} in {arena}")
        raise SystemExit(FAULTY)


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
    from arena.data.names import alike
    from arena.data.schema import QUESTION_KEY
    from arena.diagnostics.same_answers import same_answer_findings

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

    from arena.data.schema import ANSWER_KEY

    there = pd.MultiIndex.from_frame(arena.answers[ANSWER_KEY])
    absent = pd.Series(False, index=arena.judgments.index)
    for side in ("system_a", "system_b"):
        keys = arena.judgments[["language", "query_id", side]]
        absent |= ~pd.MultiIndex.from_frame(keys).isin(there)
    return int(absent.sum())


def _print(arena: Arena, counts: pd.DataFrame, gaps: list[str]) -> None:
    from surrogate.cli import printing

    printing.print_columns(f"Arena {arena.info.name}: no problems", counts, list(counts))
    print(f"Systems: {', '.join(arena.info.systems) or 'none'}")
    print(f"Judges: {', '.join(arena.judges) or 'none'}")
    for gap in gaps[: printing.SHOWN_NOTES]:
        print(f"Note: {gap}")
    if len(gaps) > printing.SHOWN_NOTES:
        print(f"… and {len(gaps) - printing.SHOWN_NOTES} more notes; --json holds them all")
