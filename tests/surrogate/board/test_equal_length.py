"""Ratings at equal length, next to a board's ratings by verdicts."""

from dataclasses import replace

import numpy as np
import pandas as pd
from scipy.special import expit

from arena import Arena
from arena.quality.preferences import equal_length_ratings
from arena.rating.battles import Battles
from arena.rating.posterior import battle_posterior

STRENGTHS = np.array([0.6, 0.2, -0.2, -0.6])
NAMES = ["s0", "s1", "s2", "wordy"]


def arena_by_length(preference, questions=60, seed=0):
    """An arena whose last system writes twice as much, judged by one who likes length so much."""
    random = np.random.default_rng(seed)
    means = np.tile([5.0, 5.0, 5.0, 5.7], (questions, 1))
    lengths = np.exp(random.normal(means, 0.3)).astype(int)
    answers, verdicts = [], []
    for question in range(questions):
        for system, name in enumerate(NAMES):
            answers.append((f"q{question}", "en", name, "x" * lengths[question, system]))
        for a, b in random.permuted(np.array(np.triu_indices(4, 1)).T, axis=1):
            ratio = np.clip(np.log(lengths[question, a] / lengths[question, b]), -1, 1)
            chance = expit(STRENGTHS[a] - STRENGTHS[b] + preference * ratio)
            winner = "a" if random.random() < chance else "b"
            verdicts.append((f"q{question}", "en", NAMES[a], NAMES[b], winner, "j"))
    columns = ["query_id", "language"]
    asked = pd.DataFrame({"query_id": [f"q{n}" for n in range(questions)], "language": "en"})
    return Arena.from_frames(
        questions=asked.assign(query="?"),
        answers=pd.DataFrame(answers, columns=[*columns, "system", "answer"]),
        judgments=pd.DataFrame(
            verdicts, columns=[*columns, "system_a", "system_b", "winner", "judge"]
        ),
    )


def test_who_is_rated_for_its_length_is_named():
    arena = arena_by_length(1.5)
    made = equal_length_ratings(arena, "half")
    moves = made.moves
    raw = battle_posterior(Battles.from_judgments(arena.judgments))
    equal = dict(zip(raw.systems, raw.ratings + moves["en"][list(raw.systems)], strict=True))
    assert moves["en"]["wordy"] < -0.4
    assert abs(equal["wordy"] - STRENGTHS[3]) < 0.4
    (remark,) = made.remarks
    assert f"wordy {-moves['en']['wordy']:.2f} lower" in remark.sentence


def test_a_judge_who_does_not_care_for_length_moves_nobody():
    made = equal_length_ratings(arena_by_length(0.0), "drop")
    assert made.remarks == ()
    assert made.moves.abs().max() < 0.3


def test_verdicts_on_absent_answers_are_left_out():
    arena = arena_by_length(1.5)
    few = arena.answers[arena.answers["system"] != "s0"]
    made = equal_length_ratings(replace(arena, answers=few), "half")
    assert list(made.moves["en"].index) == ["s1", "s2", "wordy"]


def test_a_board_has_the_ratings_at_equal_length(small_arena, small_board):
    arena = small_board.verdict_ratings.set_index(["language", "system"])
    made = equal_length_ratings(small_arena, "half")
    expected = arena["rating"] + made.moves.reindex(arena.index)
    np.testing.assert_allclose(arena["at_equal_length"], expected, atol=2e-6)
    assert set(made.remarks) <= set(small_board.summary.macro.remarks)
