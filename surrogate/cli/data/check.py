"""``surrogate-arena check``: everything that is wrong in an arena folder, and what is in it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from arena.data.wording import count_of
from surrogate.cli.options import ArenaArgument, JsonOption

if TYPE_CHECKING:
    import pandas as pd

    from arena.data.arena import Arena

FAULTY = 1
"""Exit status of an arena folder with problems."""


def check(arena: ArenaArgument, as_json: JsonOption = False) -> None:
    """Read all of an arena folder and say every problem, or what it holds; status 1 if any."""
    from arena.data.errors import DataError, UsageError
    from arena.generation import read_arena_to_answer
    from surrogate.cli import printing

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


def gaps_of(arena: Arena) -> Iterator[str]:
    """Say what an arena lacks that it need not have: answers, judgments, passages."""
    from arena.data.schema import QUESTION_KEY
    from arena.diagnostics.same_answers import same_answer_findings

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


def _print(arena: Arena, counts: pd.DataFrame, gaps: list[str]) -> None:
    from surrogate.cli import printing

    printing.print_columns(f"Arena {arena.info.name}: no problems", counts, list(counts))
    print(f"Systems: {', '.join(arena.info.systems) or 'none'}")
    print(f"Judges: {', '.join(arena.judges) or 'none'}")
    for gap in gaps[: printing.SHOWN_NOTES]:
        print(f"Note: {gap}")
    if len(gaps) > printing.SHOWN_NOTES:
        print(f"… and {len(gaps) - printing.SHOWN_NOTES} more notes; --json holds them all")
