"""Battle tables in the manner of LMArena."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from arena import DataError, UsageError
from arena.adapters import read_battles
from arena.data.languages import language_code
from arena.data.rows import SUFFIXES, write_rows

WINNERS = ["model_a", "model_b", "tie", "tie (bothbad)", "both_bad"]
BATTLES = pd.DataFrame(
    {
        "question_id": ["q1", "q1", "q2", "q2", "q1"],
        "model_a": ["x", "y", "x", "y", "z"],
        "model_b": ["y", "x", "z", "z", "x"],
        "winner": WINNERS,
        "judge": ["u1", "u1", "u2", "u2", "u3"],
        "language": ["English", "English", "Japanese", "ja", "german"],
        "turn": [1, 1, 2, 1, 3],
    }
)


def faults(battles: pd.DataFrame | Path, **options) -> list[str]:
    with pytest.raises(DataError) as caught:
        read_battles(battles, **options)
    return [str(problem) for problem in caught.value.problems]


def test_battles_become_judgments():
    battles = read_battles(BATTLES, name="mine")
    judgments = battles.arena.judgments
    assert list(judgments) == ["query_id", "language", "system_a", "system_b", "winner", "judge"]
    assert list(judgments["winner"]) == ["a", "b", "tie", "tie", "tie"]
    assert list(judgments["language"]) == ["en", "en", "ja", "ja", "de"]
    assert list(judgments["query_id"]) == ["q1", "q1", "q2", "q2", "q1"]
    assert battles.arena.judges == ("u1", "u2", "u3")
    assert battles.arena.info.name == "mine"
    assert battles.arena.info.systems == ("x", "y", "z")
    assert battles.arena.info.languages == ("de", "en", "ja")
    assert battles.skipped.values.tolist() == [
        ["battles", "column", "'turn' is no column of this schema", 1]
    ]


def test_questions_are_known_by_id():
    arena = read_battles(BATTLES).arena
    assert arena.queries.values.tolist() == [
        ["q1", "en", "q1", []],
        ["q2", "ja", "q2", []],
        ["q1", "de", "q1", []],
    ]
    assert len(arena.answers) == 0


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_files_give_the_same_as_tables(suffix: str, tmp_path: Path):
    path = tmp_path / f"battles{suffix}"
    write_rows(BATTLES, path)
    pd.testing.assert_frame_equal(
        read_battles(path).arena.judgments, read_battles(BATTLES).arena.judgments
    )


def test_the_least_a_table_must_hold():
    arena = read_battles(BATTLES[["model_a", "model_b", "winner"]]).arena
    assert list(arena.judgments["query_id"]) == [f"battle-{n}" for n in range(1, 6)]
    assert set(arena.judgments["language"]) == {"und"}
    assert arena.judges == ("human",)


def test_failed_battles_are_counted_and_no_ties():
    winners = ["model_a", None, float("nan"), "tie (bothbad)", "both_bad"]
    battles = BATTLES.assign(winner=winners).drop(columns="turn")
    told = read_battles(battles, both_bad="leave out")
    assert list(told.arena.judgments["winner"]) == ["a"]
    assert told.skipped.values.tolist() == [
        ["battles", "battle", "both answers are bad", 2],
        ["battles", "battle", "it has no winner", 2],
    ]


def test_every_bad_battle_is_reported():
    battles = pd.DataFrame(
        {
            "question_id": ["q", "q", None, "q", "q", " ", "q"],
            "model_a": ["x", "x", "x", None, "x", "x", ["x"]],
            "model_b": ["y", "y", "y", "y", "x", "y", "y"],
            "winner": ["A", "Tie", "tie", "tie", "tie", "tie", 1],
            "language": ["en", "Klingon", "en", "en", "en", "en", "en"],
        }
    )
    winner = (
        "is not a winner; write one of model_a, model_b, tie, tie (bothbad), both_bad, "
        "or null for a battle that has none"
    )
    assert faults(battles) == [
        f"battles:1: winner = 'A': {winner}",
        f"battles:2: winner = 'Tie': {winner}",
        "battles:2: language = 'Klingon': is not a language known by name; use a code such as "
        "'en', or name a code for such languages with other_languages",
        "battles:3: question_id = None: is missing; give it a value",
        "battles:4: model_a = None: is missing; give it a value",
        "battles:6: question_id = ' ': is empty; give it a value",
        f"battles:7: winner = 1: {winner}",
        "battles:7: model_a = ['x']: is not a string; write it as a JSON string",
    ]


def test_half_a_surrogate_pair_is_reported_wherever_it_stands():
    battles = BATTLES.astype(object)
    for row, column in enumerate(["question_id", "model_a", "model_b", "judge"]):
        battles.at[row, column] = "\ud800"
    fault = "holds half a surrogate pair, which no file can store; replace it by U+FFFD"
    assert faults(battles) == [
        f"battles:1: question_id = '\\ud800': {fault}",
        f"battles:2: model_a = '\\ud800': {fault}",
        f"battles:3: model_b = '\\ud800': {fault}",
        f"battles:4: judge = '\\ud800': {fault}",
    ]


@pytest.mark.parametrize("options", [{"language": "English"}, {"other_languages": "English"}])
def test_codes_given_by_the_caller_are_checked(options: dict[str, str]):
    with pytest.raises(UsageError, match="'English' is not a language code; use one such as 'en'"):
        read_battles(BATTLES, **options)


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("English", "en"),
        ("chinese", "zh"),
        (" Portuguese ", "pt"),
        ("Norwegian Bokmål", "nb"),
        ("Farsi", "fa"),
        ("Persian", "fa"),
        ("yo", "yo"),
        ("yue", "yue"),
        ("unknown", None),
        ("EN", None),
        ("", None),
    ],
)
def test_language_names(name: str, code: str | None):
    assert language_code(name) == code
