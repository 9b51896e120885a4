"""What moved between two boards, in words, with reasons where that cannot be said."""

import json
from dataclasses import replace

import numpy as np
import pytest

from arena import UsageError
from surrogate_arena.runs.diff import HOLM, INDEPENDENT_ERRORS, diff_boards


@pytest.fixture(scope="module")
def old(small_board):
    return small_board


def change(board, name, alter):
    return replace(board, **{name: alter(getattr(board, name).copy())})


def with_settings(board, **settings):
    record = board.summary.settings.model_copy(update=settings)
    return replace(board, summary=board.summary.model_copy(update={"settings": record}))


def row_of(diff, language, system):
    return diff.changes.set_index(["language", "system"]).loc[(language, system)]


@pytest.fixture(scope="module")
def best(old):
    return old.overall["system"].iloc[0]


def shifted(system, by, columns=("rating", "low", "high")):
    def shift(table):
        rows = table["system"] == system
        table.loc[rows, list(columns)] += by
        table["rank"] = table.groupby("language")["rating"].rank(ascending=False, method="min")
        return table

    return shift


def test_a_board_does_not_differ_from_itself(old):
    diff = diff_boards(old, old)
    assert set(diff.changes["verdict"]) == {"within noise"}
    assert (diff.changes["rating_change"] == 0).all()
    assert (diff.changes["rank_change"] == 0).all()
    assert set(diff.changes["language"]) == {"overall", "en", "sw"}
    assert INDEPENDENT_ERRORS in diff.remarks


def test_what_moved_far_is_told_from_what_did_not(old, best):
    new = change(old, "ratings", shifted(best, -4.0))
    diff = diff_boards(old, new)
    moved = row_of(diff, "en", best)
    assert moved["verdict"] == "moved"
    assert moved["rank_change"] < 0
    assert moved["rating_change"] == pytest.approx(-4.0)
    assert moved["p_value"] < 0.05
    others = diff.changes[diff.changes["system"] != best]
    assert set(others["verdict"]) == {"within noise"}
    assert row_of(diff, "overall", best)["verdict"] == "moved"


def test_an_interval_without_an_upper_bound_is_not_tested(old, best):
    def unbounded(table):
        return table.assign(high=np.where(table["system"] == best, np.inf, table["high"]))

    found = row_of(diff_boards(old, change(old, "ratings", unbounded)), "sw", best)
    assert found["rating_change"] == 0
    assert np.isnan(found["standard_error"])
    new = change(change(old, "ratings", shifted(best, -20.0)), "ratings", unbounded)
    found = row_of(diff_boards(old, new), "sw", best)
    assert found["verdict"] == "not comparable"
    assert "no interval" in found["reason"]


def test_new_and_gone_systems_and_what_is_relative_to_the_rest(old, best):
    new = old
    for name in ("ratings", "overall"):
        new = change(new, name, lambda table: table.replace({"system": {best: "newcomer"}}))
    new = change(new, "ratings", shifted("newcomer", 12.0))
    new = change(new, "ratings", lambda table: table.assign(rating=table["rating"] - 1.0))
    diff = diff_boards(old, new)
    assert row_of(diff, "en", best)["verdict"] == "gone"
    assert row_of(diff, "en", "newcomer")["verdict"] == "new"
    assert row_of(diff, "overall", "newcomer")["verdict"] == "new"
    both = diff.changes[diff.changes["language"] == "en"]
    both = both[~both["system"].isin([best, "newcomer"])]
    np.testing.assert_allclose(both["rating_change"], 0, atol=1e-9)
    assert (both["rank_change"] == 0).all()
    assert {remark.subject for remark in diff.remarks if remark.name == "systems"} == {"en", "sw"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("setting", "value"),
    [
        *(("ties", "drop"), ("judge", "other"), ("features", ("more",)), ("surrogate", "linear")),
        *(("ridge", 0.5), ("missing", "zero")),
    ],
)
def test_what_is_not_comparable_is_not_compared(old, setting, value):
    diff = diff_boards(old, with_settings(old, **{setting: value}))
    assert set(diff.changes["verdict"]) == {"not comparable"}
    languages = diff.changes[diff.changes["language"] != "overall"]
    assert languages["reason"].str.startswith("another ").all()
    # Nothing was tested, so nothing is said of a test.
    assert not {HOLM, INDEPENDENT_ERRORS} & {*diff.remarks}
    same = diff_boards(old, with_settings(old, arena_ratings="tournaments", seed=4))
    assert set(same.changes["verdict"]) == {"within noise"}


def test_languages_on_one_board_only_are_noted(old):
    new = change(old, "ratings", lambda table: table[table["language"] == "en"])
    diff = diff_boards(old, new)
    assert "sw: on the old board only" in map(str, diff.remarks)
    assert set(diff.changes["language"]) == {"overall", "en"}
    new = change(new, "ratings", lambda table: table.assign(language="fi"))
    with pytest.raises(UsageError, match="no language in common"):
        diff_boards(old, new)


@pytest.mark.slow
def test_the_command_prints_tables_json_and_csv(run, old, best, tmp_path, capsys):
    new = with_settings(change(old, "ratings", shifted(best, -4.0)), seed=4)
    old.save(tmp_path / "old")
    new.save(tmp_path / "new")
    old, new = tmp_path / "old", tmp_path / "new"
    assert run("diff", old, new) == 0
    printed = capsys.readouterr().out
    assert "overall: " in printed
    assert "1 moved" in printed
    assert run("diff", old, new, "--json") == 0
    told = json.loads(capsys.readouterr().out, parse_constant=pytest.fail)
    assert {row["language"] for row in told["changes"]} == {"overall", "en", "sw"}


@pytest.mark.slow
def test_changes_of_nothing_but_noise_are_seldom_told_as_moves(old):
    """Both boards' ratings around the same truth, by errors as large as their intervals say."""
    random = np.random.default_rng(0)
    has_moved = []
    tables = old.ratings.assign(rating=0.0, low=-1.645, high=1.645, standard_error=1.0)

    def drawn(_):
        shift = random.normal(size=len(tables))
        return tables.assign(**{name: tables[name] + shift for name in ("rating", "low", "high")})

    for _ in range(40):
        diff = diff_boards(change(old, "ratings", drawn), change(old, "ratings", drawn))
        kept = diff.changes[diff.changes["language"].ne("overall")]
        for _, part in kept.groupby("language"):
            has_moved.append((part["verdict"] == "moved").any())
    assert np.mean(has_moved) < 0.12
