"""surrogate-arena: adaptive pairs as ``judge`` asks them, then a board with its surrogate.

The weights that judges' preferences have in other arenas are left out: they were learned on some of
these arenas. What is expected before a verdict is what the answers have in common.
"""

from __future__ import annotations

from dataclasses import replace

import pandas as pd
from tasks import NotRecordedError

from arena.judging import AdaptivePairs, JudgingSettings
from arena.judging.answer_pairs import PAIR_COLUMNS
from arena.judging.choosing.chosen_pairs import Verdicts
from arena.judging.llm_judge import FAILURE_COLUMNS
from features.engine.extraction import extract
from features.measures.registry import FEATURES
from surrogate import build_board
from surrogate.board.unjudged_board import EVIDENCE_FEATURES, first_ratings
from surrogate.learning.training_data import with_answers
from surrogate_arena.diagnosis.judging_prior import first_prior

JUDGE = "judge"
NEVER_STOP = 1e-9
UNBOUNDED = 10**9


def method(arena, ask, budget, seed):
    expected, prior = expected_ratings(arena, seed)
    if budget == 0:
        return expected
    verdicts = adaptive_verdicts(arena, ask, seed, prior)
    judged = replace(arena, judgments=verdicts)
    board = build_board(judged, unjudged="ranked", seed=seed)
    ratings = {}
    for row in board.ratings.itertuples():
        if pd.notna(row.wins_low):
            ratings[row.system] = (row.wins, row.wins_low, row.wins_high)
        elif pd.notna(row.wins):
            ratings[row.system] = row.wins
    return ratings


def expected_ratings(arena, seed):
    """Rate the systems by what their answers have in common."""
    language = arena.queries["language"].iloc[0]
    systems = sorted(arena.answers["system"].unique())
    measured = extract(arena, [FEATURES[name] for name in EVIDENCE_FEATURES])
    table = with_answers(measured, arena.answers)
    first = first_ratings(table, language, systems, len(arena.queries), seed=seed)
    prior = first_prior(first.table, {language: first.basis})
    rated = first.table.dropna(subset="rating")
    return dict(zip(rated["system"], rated["rating"], strict=True)), prior


def adaptive_verdicts(arena, ask, seed, prior):
    """Ask the pairs that lower the uncertainty of the ranking most, until the budget is spent."""
    askable = set(ask.pairs["system_a"]) | set(ask.pairs["system_b"])
    open_arena = replace(arena, answers=arena.answers[arena.answers["system"].isin(askable)])
    # The plan counts pairs without a recorded verdict as calls, so that ``ask`` alone counts.
    settings = JudgingSettings(model=JUDGE, budget=UNBOUNDED, until=NEVER_STOP, seed=seed)
    rounds = AdaptivePairs(open_arena, settings, prior).rounds()
    rows = []
    try:
        chosen = next(rounds)
        while ask.left:
            verdicts, failures = [], []
            for pair in chosen.table[PAIR_COLUMNS].drop_duplicates().itertuples(index=False):
                if ask.left == 0:
                    break
                try:
                    winner = ask(pair.query_id, pair.system_a, pair.system_b)
                except NotRecordedError:
                    failures.append(pair)
                    continue
                verdicts.append((*pair, winner))
            rows += verdicts
            answered = pd.DataFrame(verdicts, columns=[*PAIR_COLUMNS, "winner"], dtype=object)
            failed = pd.DataFrame(failures, columns=PAIR_COLUMNS, dtype=object)
            chosen = rounds.send(Verdicts(answered, failed.reindex(columns=FAILURE_COLUMNS)))
    except StopIteration:
        pass
    table = pd.DataFrame(rows, columns=[*PAIR_COLUMNS, "winner"], dtype=object)
    return table.assign(judge=JUDGE)
