"""The pairs of answers to judge first, where nobody has judged yet."""

from __future__ import annotations

import pandas as pd

from arena.data.arena import Arena
from arena.data.schema import QUESTION_KEY
from arena.judging.choosing.drawn import DEFAULT_QUESTIONS, draw_questions
from arena.judging.choosing.pairing import AdaptivePairing
from arena.judging.pairs import PAIR_COLUMNS, ArenaTexts


def first_verdicts(arena: Arena, prior: pd.DataFrame, seed: int = 0) -> pd.DataFrame:
    """List the pairs of answers to judge first: what tells most about the ranking.

    As many pairs of a language as there are systems, on the questions that ``judge`` draws, as
    ``AdaptivePairing`` plans them before any outcome is known.

    Args:
        arena: Questions and answers.
        prior: See ``first_prior``.
        seed: The user's seed.

    Returns:
        Columns ``language, query_id, system_a, system_b``, the most telling first, languages in
        turn; empty where no question has two answers.
    """
    texts = ArenaTexts(arena)
    tables = [pd.DataFrame(columns=[*PAIR_COLUMNS, "turn"])]
    if (arena.answers.groupby(QUESTION_KEY).size() < 2).all():
        return tables[0][PAIR_COLUMNS]
    drawn = draw_questions(arena, texts, DEFAULT_QUESTIONS, None, seed)
    for language in drawn.counts:
        questions = [query_id for of_language, query_id in drawn.keys if of_language == language]
        own = arena.answers[arena.answers["language"] == language]
        own = own[own["query_id"].isin(questions)]
        names = sorted(own["system"].unique())
        known = prior[prior["language"] == language]
        answered = own[["query_id", "system"]]
        pairing = AdaptivePairing(names, questions, answered, seed, prior=known)
        pairs = pd.DataFrame(pairing.next_pairs(len(names)), columns=PAIR_COLUMNS[1:])
        tables.append(pairs.assign(language=language, turn=range(len(pairs))))
    stacked = pd.concat(tables, ignore_index=True)
    ordered = stacked.sort_values(["turn", "language"], kind="stable", ignore_index=True)
    return ordered[PAIR_COLUMNS]
