"""Where nobody has judged, a board's surrogate says on which questions to look."""

import pandas as pd
import pytest

from surrogate_arena.gating.fault_comparison import given_limits
from surrogate_arena.gating.gate import gate
from surrogate_arena.gating.gate_report import gate_markdown
from surrogate_arena.gating.rating_difference import GateRates

ANY = GateRates(allow=given_limits(["dead-citation=all,other-language=all"]))
BEST, WORST = "sim-atlas-large", "sim-iris-instruct"


@pytest.fixture(scope="module")
def compared(small_arena, quick_board):
    """The best system's answers, but for five questions that the worst one answers."""
    answers = small_arena.answers
    worse = answers[(answers["system"] == WORST) & (answers["language"] == "en")].head(5)
    best = answers[answers["system"] == BEST]
    is_kept = ~(best["query_id"].isin(worse["query_id"]) & (best["language"] == "en"))
    new = pd.concat([best[is_kept], worse]).assign(system="new")
    return gate(quick_board, new, small_arena, BEST, rates=ANY), set(worse["query_id"])


def test_questions_are_marked_as_expected(compared):
    found, changed = compared
    assert found.lost
    assert {(lost.language, lost.query_id) for lost in found.lost} <= {("en", q) for q in changed}
    assert all(lost.is_expected for lost in found.lost)
    assert any("(expected to be lost)" in line for line in found.examples)
    assert "that the surrogate expects it to lose, by the answers alone." in str(found)
    assert "#### Expected losses" in gate_markdown(found)
    assert f"| en {found.lost[0].query_id} | expected |" in gate_markdown(found)


def test_verdicts_go_before_expectations(small_arena, quick_board):
    found = gate(quick_board, WORST, small_arena, BEST, rates=ANY)
    assert found.lost
    assert not any(lost.is_expected for lost in found.lost)


def test_without_a_trained_surrogate_nothing_is_listed(small_arena):
    unjudged = small_arena.judged_by()
    bare = type(unjudged).from_frames(unjudged.queries, unjudged.answers, name="bare")
    assert gate(arena=bare, candidate=WORST, baseline=BEST, rates=ANY).lost == ()
