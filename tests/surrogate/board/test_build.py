"""The main job on a simulated arena: what the board holds, and that it is reproducible."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.stats import kendalltau

from arena.data.errors import UsageError
from arena.statistics.rank_agreement import kendall_tau
from features import extract, parse_features
from surrogate import build_board
from surrogate.board.details import compare_with_truth
from surrogate.board.judge.metaevaluations import MetaEvaluation
from surrogate.board.judge.report import JudgingRecords
from surrogate.board.ratings.table import NO_ANSWER, UNJUDGED, VANISHED
from surrogate.board.summarize import BORROWED
from surrogate.board.tables import read_feature_table
from surrogate.cli.printing import print_board


def without(arena, language, system):
    answers = arena.answers
    gone = (answers["language"] == language) & (answers["system"] == system)
    return replace(arena, answers=answers[~gone].reset_index(drop=True))


def test_every_system_is_ranked_in_every_language(small_board, small_arena):
    for language in small_arena.info.languages:
        rows = small_board.ratings[small_board.ratings["language"] == language]
        assert set(rows["system"]) == set(small_arena.info.systems)
        assert rows["rank"].notna().all()
        assert (rows["coverage"] == 1.0).all()
        order = rows.sort_values("rating", ascending=False)["rank"]
        assert order.is_monotonic_increasing


def test_the_board_is_close_to_the_known_truth(small_board, simulation):
    compared = compare_with_truth(small_board.ratings, simulation.truth).set_index("language")
    assert list(compared) == ["rating", "verdicts_alone", "surrogate_alone"]
    assert (compared.loc["macro"] > 0.6).all()
    rows = small_board.ratings[small_board.ratings["language"] == "sw"]
    both = rows.merge(simulation.truth, on=["language", "system"])
    for name, column in zip(compared, ("rating", "arena_rating", "surrogate_rating"), strict=True):
        tau = kendalltau(both[column], both["quality"]).statistic
        assert compared.loc["sw", name] == pytest.approx(tau)


def test_the_summary_is_complete(small_board, small_arena):
    summary = small_board.summary
    assert set(summary.languages) == {"en", "sw"}
    assert summary.macro.languages == 2
    for item in summary.languages.values():
        assert -1 <= item.tau_low <= item.tau <= item.tau_high <= 1
        assert -1 <= item.tau_unseen <= 1
        assert set(item.tau_unseen_of) == {"random-forest"}
        assert item.holdout == ()
        assert item.questions == item.questions_judged == 10
    assert sum(item.judgments for item in summary.languages.values()) == len(small_arena.judgments)
    for part in ("judge:simulated-teacher", "tournaments:10", "ties:half", "seed:3", "version:"):
        assert part in summary.signature


def test_held_out_systems_are_ranked_but_not_trained_on(forest_board):
    held = set(forest_board.summary.languages["en"].holdout)
    assert len(held) == 2
    split = forest_board.ratings.groupby("split")["system"].unique()
    assert set(split["holdout"]) == held
    for systems in forest_board.surrogate.systems_.values():
        assert not held & set(systems)


def test_a_board_by_the_papers_surrogate_has_its_r2_and_the_defaults_tau(forest_board, small_board):
    for language, item in forest_board.summary.languages.items():
        assert item.holdout_r2.low <= item.holdout_r2.median <= item.holdout_r2.high
        assert item.holdout_r2.tournaments == 10
        other = small_board.summary.languages[language]
        assert item.tau_unseen_of == {"gaussian-process": other.tau_unseen}
        assert other.tau_unseen_of == {"random-forest": item.tau_unseen}


@pytest.fixture(scope="module")
def gaps(small_arena):
    """A board on which, in one of two languages, two systems have no answers, one no verdicts."""
    judged, unjudged = small_arena.info.systems[:2]
    judgments = small_arena.judgments
    takes_part = (judgments["system_a"] == unjudged) | (judgments["system_b"] == unjudged)
    left = judgments[~(takes_part & (judgments["language"] == "sw"))]
    arena = without(replace(small_arena, judgments=left), "sw", unjudged)
    return build_board(
        without(arena, "sw", judged),
        **{"features": "answer_length,bleu", "surrogate": "ridge", "tournaments": 2, "holdout": []},
    )


def test_a_judged_system_without_answers_is_unranked(gaps, small_arena):
    system = small_arena.info.systems[0]
    row = gaps.ratings.set_index(["language", "system"]).loc[("sw", system)]
    assert row[["surrogate_rating", "rating", "rank"]].isna().all()
    assert pd.notna(row["arena_rating"])
    assert (row["coverage"], row["answers"], row["note"]) == (0.0, 0, VANISHED)
    assert gaps.summary.languages["sw"].skipped.missing_answers == 2 * 10


def test_a_system_without_answers_or_verdicts_is_unranked_with_its_coverage(gaps, small_arena):
    system = small_arena.info.systems[1]
    row = gaps.ratings.set_index(["language", "system"]).loc[("sw", system)]
    assert pd.isna(row["rank"])
    assert pd.isna(row["rating"])
    assert (row["coverage"], row["answers"], row["note"]) == (0.0, 0, NO_ANSWER)
    unranked = gaps.summary.languages["sw"].skipped.systems_unranked
    assert unranked == {system: NO_ANSWER, small_arena.info.systems[0]: VANISHED}
    overall = gaps.overall.set_index("system").loc[system]
    assert pd.isna(overall["rank"])
    assert (overall["languages"], overall["coverage"]) == (1, 0.5)


def test_a_system_that_answers_but_was_never_judged_is_ranked(english_arena, build_quickly):
    system = english_arena.info.systems[-1]
    judgments = english_arena.judgments
    fewer = judgments[(judgments["system_a"] != system) & (judgments["system_b"] != system)]
    board = build_quickly(replace(english_arena, judgments=fewer), holdout=[])
    rows = board.ratings[board.ratings["system"] == system]
    assert set(rows["split"]) == {"unjudged"}
    assert rows["rank"].notna().all()
    assert rows["arena_rank"].isna().all()


def test_a_language_without_judgments_is_said(small_arena, build_quickly):
    judgments = small_arena.judgments
    english = judgments[judgments["language"] == "en"].reset_index(drop=True)
    board = build_quickly(replace(small_arena, judgments=english))
    assert list(board.ratings["language"].unique()) == ["en"]
    silent = board.summary.languages["sw"]
    assert silent.tau is None
    assert silent.notes == ("no judgments in this language: nothing to learn from",)
    assert silent.skipped.questions_without_judgments == 10


ENTRY = MetaEvaluation(
    judge="llm:simulated-teacher",
    dataset="memerag",
    metric="balanced_accuracy",
    value=0.7,
    standard_error=0.01,
    n=10,
    languages=["en"],
)


@pytest.fixture(scope="module")
def plain_board(english_arena, build_quickly):
    """A board without a holdout and examples, with what is known of its judge."""
    records = JudgingRecords((ENTRY,))
    return build_quickly(english_arena, holdout=[], examples=0, records=records)


def test_without_a_holdout_r2_is_missing_with_a_reason(plain_board):
    held = plain_board.summary.languages["en"].holdout_r2
    assert (held.mean, held.tournaments, held.reason) == (None, 0, "no system is held out")
    assert "holdout:none" in plain_board.summary.signature
    assert plain_board.importances["tournament_mean"].isna().all()


def test_a_judges_quality_is_in_the_signature(plain_board):
    assert f"judge:simulated-teacher|metaevaluation:{ENTRY}|" in plain_board.summary.signature
    assert [item.text for item in plain_board.judge_report.metaevaluations] == [str(ENTRY)]


def test_examples_can_be_left_out(plain_board, small_arena):
    assert plain_board.examples.empty
    with pytest.raises(
        UsageError, match="examples = -1: input should be greater than or equal to 0"
    ):
        build_board(small_arena, examples=-1)


def test_too_few_systems_to_train_on_are_said_not_ranked(small_arena, quick_features):
    pair = list(small_arena.info.systems[:2])
    judgments = small_arena.judgments
    two = judgments[judgments["system_a"].isin(pair) & judgments["system_b"].isin(pair)]
    arena = replace(small_arena, judgments=two)
    board = build_board(arena, feature_table=quick_features, tournaments=2)
    is_judged = board.ratings["system"].isin(pair)
    assert board.ratings.loc[~is_judged, "rank"].isna().all()
    assert (board.ratings.loc[is_judged, "verdict_share"] == 1.0).all()
    assert board.ratings.loc[is_judged, "note"].str.startswith("by its verdicts alone: ").all()
    assert "at least 3 systems and a feature are needed" in board.summary.languages["en"].notes[0]
    assert set(board.surrogate.failures_) == {"en", "sw"}
    assert board.neighbors.empty
    assert board.ratings["surrogate_low"].isna().all()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"surrogate": "oracle"}, "unknown surrogate 'oracle'"),
        ({"holdout": ["nobody"]}, "nobody"),
    ],
)
def test_what_is_misspelt_is_said_before_anything_is_measured(tiny_arena, options, said):
    stages = []
    with pytest.raises(UsageError, match=said):
        build_board(tiny_arena, progress=lambda *stage: stages.append(stage), **options)
    assert stages == []


@pytest.mark.parametrize(
    ("surrogate", "said"),
    [
        ("gaussian-process", "no rating by a surrogate that has not seen it: "),
        ("ridge", "by its verdicts alone: "),
    ],
)
def test_too_few_systems_to_leave_some_out_are_no_systems_without_features(
    english_arena, build_quickly, surrogate, said
):
    three = list(english_arena.info.systems[:3])
    judgments = english_arena.judgments
    few = judgments[judgments["system_a"].isin(three) & judgments["system_b"].isin(three)]
    board = build_quickly(replace(english_arena, judgments=few), surrogate=surrogate)
    reason = "3 judged systems are too few to leave some out: at least 5 are needed"
    judged = board.ratings[board.ratings["system"].isin(three)]
    assert set(judged["note"]) == {said + reason}
    assert (judged["verdict_share"] < 1).all() == said.startswith("no rating")
    assert board.summary.languages["en"].interval.reason == reason


@pytest.mark.parametrize("name", ["small_board", "forest_board"])
def test_importances_sum_to_one_and_name_every_feature(name, request):
    board = request.getfixturevalue(name)
    for _, rows in board.importances.groupby("language"):
        assert rows["importance"].sum() == pytest.approx(1.0, abs=1e-5)
        assert set(rows["feature"]) == set(board.summary.features)


def test_importances_have_a_spread_over_tournaments(forest_board):
    for _, rows in forest_board.importances.groupby("language"):
        inside = rows["tournament_low"] <= rows["tournament_mean"]
        assert inside.all()
        ordered = rows[[f"tournament_{name}" for name in ("low", "q1", "median", "q3", "high")]]
        assert (ordered.diff(axis=1).iloc[:, 1:] >= 0).all(axis=None)


def test_scores_already_at_hand_train_a_surrogate(tiny_arena):
    table = extract(tiny_arena, parse_features("answer_length,bleu"))
    published = table.rename(columns=lambda name: name.replace("bleu", "nli_entailment"))
    board = build_board(
        tiny_arena, feature_table=published, surrogate="ridge", tournaments=2, holdout=[]
    )
    assert board.summary.features == ("answer_length", "nli_entailment")
    assert board.ratings["rank"].notna().all()


def test_rows_a_question_train_a_surrogate_too(english_arena, build_quickly):
    options = {"surrogate": "gaussian-process", "rows": "question"}
    board = build_quickly(english_arena, tournaments=3, **options)
    assert "rows:question" in board.summary.signature
    assert board.summary.macro.tau > 0.3


@pytest.mark.slow
def test_the_same_seed_gives_the_same_bytes_whatever_the_jobs(small_arena, tmp_path):
    files = {}
    for jobs in (1, 2):
        board = build_board(small_arena, tournaments=30, seed=3, n_jobs=jobs)
        board.save(tmp_path / str(jobs), tmp_path / "arena")
        files[jobs] = {
            path.name: path.read_bytes()
            for path in (tmp_path / str(jobs)).iterdir()
            if path.suffix in (".csv", ".json", ".jsonl")
        }
    assert files[1] == files[2]
    assert set(files[1]) == {
        "arena.csv",
        "board.csv",
        "differences.csv",
        "examples.jsonl",
        "importances.csv",
        "judge_report.json",
        "manifest.json",
        "neighbors.csv",
        "first_verdicts.csv",
        "overall.csv",
        "summary.json",
        "win_matrix.csv",
    }


def test_permuting_the_rows_of_the_arena_changes_nothing(small_arena, small_board):
    shuffled = replace(
        small_arena,
        queries=small_arena.queries.sample(frac=1, random_state=1).reset_index(drop=True),
        answers=small_arena.answers.sample(frac=1, random_state=2).reset_index(drop=True),
        judgments=small_arena.judgments.sample(frac=1, random_state=3).reset_index(drop=True),
    )
    board = build_board(shuffled, tournaments=10, seed=3)
    for table in (
        "ratings",
        "importances",
        "arena",
        "differences",
        "win_matrix",
        "neighbors",
        "examples",
    ):
        pd.testing.assert_frame_equal(getattr(board, table), getattr(small_board, table))
    assert board.judge_report == small_board.judge_report


def test_ratings_have_intervals_of_unseen_systems(forest_board):
    for language, rows in forest_board.ratings.groupby("language"):
        interval = forest_board.summary.languages[language].interval
        assert (interval.level, interval.residuals, interval.pooled) == (0.9, 12, False)
        rating = rows["surrogate_rating"]
        for width in (rows["surrogate_high"] - rating, rating - rows["surrogate_low"]):
            np.testing.assert_allclose(width, interval.half_width, atol=2e-6)


def test_intervals_are_as_wide_as_standard_errors_where_these_are_known(small_board):
    for language, rows in small_board.ratings.groupby("language"):
        interval = small_board.summary.languages[language].interval
        assert interval.in_standard_errors
        assert (interval.level, interval.residuals, interval.pooled) == (0.9, 12, False)
        assert np.ptp(rows["surrogate_high"] - rows["surrogate_rating"]) > 0.0


def test_verdicts_narrow_what_the_surrogate_expects(small_board):
    rows = small_board.ratings
    assert rows["verdict_share"].between(0, 1, inclusive="neither").all()
    assert (rows["high"] - rows["low"] < rows["surrogate_high"] - rows["surrogate_low"]).all()
    between = rows[["arena_rating", "surrogate_rating"]]
    assert (rows["rating"] > between.min(axis=1) - 0.15).all()
    assert (rows["rating"] < between.max(axis=1) + 0.15).all()
    assert (rows["rank_low"] <= rows["rank"]).all()
    assert (rows["rank"] <= rows["rank_high"]).all()


def test_few_systems_leave_no_interval_and_the_reason(small_arena, english_arena, build_quickly):
    five = list(small_arena.info.systems[:5])
    judgments = small_arena.judgments
    among = judgments["system_a"].isin(five) & judgments["system_b"].isin(five)
    english = judgments[among & (judgments["language"] == "en")]
    board = build_quickly(replace(english_arena, judgments=english), holdout=[])
    assert board.ratings[["surrogate_low", "surrogate_high"]].isna().all(axis=None)
    judged = board.ratings["arena_rating"].notna()
    assert board.ratings.loc[judged, ["low", "high"]].notna().all(axis=None)
    reason = board.summary.languages["en"].interval.reason
    assert reason == "5 ratings of systems unseen in training; an interval of 90% needs 9"
    pooled = build_quickly(replace(small_arena, judgments=judgments[among]), holdout=[])
    interval = pooled.summary.languages["en"].interval
    assert (interval.residuals, interval.pooled) == (10, True)
    assert pooled.ratings["surrogate_low"].notna().all()


def test_every_system_has_neighbors_and_every_judged_one_a_tier(small_board, small_arena):
    systems = len(small_arena.info.systems)
    assert len(small_board.neighbors) == 2 * systems * 3
    assert (small_board.neighbors["system"] != small_board.neighbors["neighbor"]).all()
    merged = small_board.arena
    assert len(merged) == 2 * systems
    assert (merged["rank_low"] <= merged["rank"]).all()
    assert (merged["rank"] <= merged["rank_high"]).all()
    for _, rows in merged.groupby("language"):
        assert rows.sort_values("rank")["tier"].is_monotonic_increasing
    assert small_board.win_matrix["wins"].sum() + small_board.win_matrix["ties"].sum() / 2 == len(
        small_arena.judgments
    )


def test_feature_tables_that_cannot_be_used_are_refused(tmp_path):
    path = tmp_path / "features.csv"
    with pytest.raises(UsageError, match="no feature table at"):
        read_feature_table(path)
    path.write_text("language,system,score\nen,x,1\n")
    with pytest.raises(UsageError, match=r"features.csv lacks the columns query_id"):
        read_feature_table(path)
    path.write_text("language,system,query_id\nen,x,q1\n")
    with pytest.raises(UsageError, match="has no feature column"):
        read_feature_table(path)
    path.write_text("language,system,query_id,score\nen,x,q1,high\n")
    with pytest.raises(UsageError, match="a feature that is not a number"):
        read_feature_table(path)


def test_unknown_judges_and_empty_arenas_are_refused(small_arena):
    with pytest.raises(UsageError, match="no judge 'gpt-9' here; the judges are simulated-teacher"):
        build_board(small_arena, judge="gpt-9")
    empty = replace(small_arena, judgments=small_arena.judgments.iloc[:0])
    with pytest.raises(UsageError, match="has no judgments to learn from"):
        build_board(empty, ratings="surrogate")


def test_a_language_without_verdicts_borrows_from_the_others_and_says_so(small_arena, small_board):
    english = small_arena.judgments[small_arena.judgments["language"] == "en"]
    board = build_board(
        replace(small_arena, judgments=english.reset_index(drop=True)),
        feature_table=small_board.features,
        tournaments=2,
    )
    rows = board.ratings[board.ratings["language"] == "sw"].set_index("system")
    assert (rows["note"] == UNJUDGED).all()
    assert (rows["verdict_share"] == 0).all()
    assert rows["arena_rating"].isna().all()
    assert (rows["rank_low"] <= rows["rank"]).all()
    assert (rows["low"] < rows["rating"]).all()
    truth = small_board.arena[small_board.arena["language"] == "sw"].set_index("system")["rating"]
    assert kendall_tau(rows["rating"].to_numpy(), truth.reindex(rows.index).to_numpy()) > 0.4
    assert board.summary.languages["sw"].notes == (BORROWED,)
    assert board.overall["rank"].notna().all()


def test_without_passages_the_default_features_that_need_none_are_used(english_arena, capsys):
    passages = [[]] * len(english_arena.queries)
    bare = replace(english_arena, queries=english_arena.queries.assign(passages=passages))
    board = build_board(bare, tournaments=2)
    print_board(board)
    for item in board.summary.languages.values():
        unused = item.skipped.features_left_out
        assert unused["citation_recall@10"] == "query without passages"
        assert "answer_length" not in unused
    assert "citation_recall@10" in capsys.readouterr().out
    shares = board.importances.groupby("feature")["importance"].sum()
    assert shares["answer_length"] > 0
    assert shares["citation_recall@10"] == 0
