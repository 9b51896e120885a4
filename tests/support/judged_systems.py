"""A small arena of systems of known quality, and a judge that knows it."""

from types import SimpleNamespace

import pandas as pd

from arena import Arena, ArenaInfo
from arena.judging import judge_pairs

QUALITY = {"good": 3, "fair": 2, "poor": 1}


def build_arena(answers=None, questions=4, languages=("en",), systems=tuple(QUALITY), passages=()):
    """Each answer names its system and question, unless one is given."""
    keys = [(language, f"q{n}") for language in languages for n in range(questions)]
    queries = pd.DataFrame(
        [(q, language, f"What is {q}?", list(passages)) for language, q in keys],
        columns=["query_id", "language", "query", "passages"],
    )
    texts = answers or {}
    rows = [
        (q, language, system, texts.get((q, system), f"{system} answer to {q}"))
        for language, q in keys
        for system in systems
    ]
    table = pd.DataFrame(rows, columns=["query_id", "language", "system", "answer"])
    judgments = pd.DataFrame(
        columns=["query_id", "language", "system_a", "system_b", "winner", "judge"], dtype=object
    )
    info = ArenaInfo(name="small", languages=languages, systems=systems)
    return Arena(info, queries, table[table["answer"].notna()], judgments)


def judge_arena(arena, judge, pairs, store, **options):
    """Let one judge judge; its summary stands beside what came."""
    judged = judge_pairs(arena, judge, pairs, store, **options)
    (summary,) = judged.summaries
    return SimpleNamespace(
        judgments=judged.judgments, failures=judged.failures, summary=summary, pairs=judged.pairs
    )


def shown_answers(prompt):
    """Take the two answers out of a prompt."""
    sides = []
    for side in "AB":
        _, _, rest = prompt.partition(f"[The Start of Assistant {side}'s Answer ")
        sides.append(rest.partition("]\n")[2].partition(f"\n[The End of Assistant {side}'s")[0])
    return sides


def better(prompt):
    """Judge by the quality of the system that an answer names: A, B or C."""
    a, b = (QUALITY.get(answer.split()[0], 0) for answer in shown_answers(prompt))
    return "A" if a > b else "B" if b > a else "C"
