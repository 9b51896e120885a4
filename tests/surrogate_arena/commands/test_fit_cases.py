"""Battles that people bring, of whatever shape: what ``fit`` makes of them."""

import json

import pandas as pd
import pytest
from shared_data import shared_path

from surrogate_arena import build_board

CASES = "cases/contract/arena"


@pytest.fixture
def fitted(run, capsys):
    """Run ``fit`` on a case or a file, and read what it prints."""

    def fit(path, *options):
        capsys.readouterr()
        assert run("fit", shared_path(CASES) / path, *options, "--json") == 0
        printed = json.loads(capsys.readouterr().out)
        return printed, pd.DataFrame(printed["ratings"]).set_index("system")

    return fit


def sentences_of(printed):
    return " ".join(remark["sentence"] for remark in printed["remarks"])


def test_counts_have_no_sides_whatever_the_order_of_pairs(fitted, tmp_path):
    printed, ratings = fitted("01_counts_sides.csv")
    assert printed["biases"] == []
    assert "side" not in sentences_of(printed)
    assert (ratings.loc["a", "low"], ratings.loc["a", "high"]) == pytest.approx(
        (0.24, 0.57), abs=0.005
    )
    assert list(ratings["tier"]) == [1, 2, 3]
    turned = tmp_path / "turned.csv"
    turned.write_text("model_a,model_b,wins_a,wins_b,ties\nb,a,40,60,0\na,c,70,30,0\nc,b,40,60,0\n")
    columns = ["rating", "low", "high", "rank_low", "rank_high", "tier"]
    _, other = fitted(turned)
    pd.testing.assert_frame_equal(ratings[columns], other[columns], rtol=1e-9)


def test_names_of_winners_and_losers_change_nothing(fitted, tmp_path):
    printed, ratings = fitted("02_winner_loser_names.csv")
    assert list(ratings["rank_high"]) == [1, 2, 3]
    assert not any(label["faults"] for label in printed["judges"] if "faults" in label)
    renamed = tmp_path / "renamed.csv"
    table = pd.read_csv(shared_path(CASES) / "02_winner_loser_names.csv")
    table.replace({"a": "b", "b": "a"}).to_csv(renamed, index=False)
    _, other = fitted(renamed)
    assert list(other["rank_high"]) == [1, 2, 3]
    assert other.loc["b", "low"] == pytest.approx(ratings.loc["a", "low"])


def test_a_baseline_that_is_always_first_has_a_rank_and_the_judge_no_fault(fitted):
    printed, ratings = fitted("03_baseline_first.csv")
    notes = sentences_of(printed)
    assert "favored" not in notes
    assert "sides vary too little" in notes
    assert "--no-sides" in notes
    assert ratings["rank"].notna().all()
    printed, ratings = fitted("03_baseline_first.csv", "--no-sides")
    bounds = ratings.loc["base", ["low", "high"]].tolist()
    assert bounds == pytest.approx([-0.79, -0.53], abs=0.01)
    assert ratings.loc["base", "tier"] == 3
    assert "sides" not in sentences_of(printed)


@pytest.mark.slow
def test_a_board_ranks_systems_that_all_stood_on_side_b_of_one_baseline():
    pytest.importorskip("surrogate_arena.importers", reason="needs the folder of importers")
    from arena import import_arena

    path = shared_path(CASES) / "03_baseline_first_answers.csv"
    arena = import_arena("lmarena", [path], language="en").arena
    board = build_board(arena, tournaments=2, features="answer_length,bleu")
    ranks = board.ratings.set_index("system")["rank"]
    assert ranks.notna().all()
    assert ranks["base"] == 6
    assert "favor" not in " ".join(str(remark) for remark in board.summary.macro.conclusions)


def test_a_champion_of_all_is_first_and_the_others_are_not(fitted):
    _, ratings = fitted("04_champion_star.csv")
    bounds = ratings[["rank_low", "rank_high"]]
    assert bounds.loc["champ"].tolist() == [1, 1]
    assert bounds.drop("champ").to_numpy().tolist() == [[2, 13]] * 12


def test_a_voter_with_most_votes_decides_nothing_and_is_named(fitted):
    pytest.importorskip("surrogate_arena.diagnosis", reason="needs the folder of diagnosis")
    printed, ratings = fitted("09_one_voter_most_votes.csv")
    assert list(ratings.loc[["x", "z"], "rank_low"]) == [1, 1]
    [remark] = [remark for remark in printed["remarks"] if remark["name"] == "voter"]
    assert remark["sentence"].startswith(
        "1 of 31 voters, spammer, cast 300 of 420 votes: without that voter x"
    )


def test_an_order_that_no_language_has_is_said(fitted):
    pytest.importorskip("surrogate_arena.diagnosis", reason="needs the folder of diagnosis")
    printed, _ = fitted("10_simpson_languages.csv", "--language", "all")
    assert "x is ahead of y over all languages, and behind in each" in sentences_of(printed)
