"""Winners in several columns: one-hot columns, one side's wins, and probabilities."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from arena.data.cells import is_null
from arena.data.schema import PROBABILITIES, likeliest_winner
from surrogate_arena.importers.cells import id_text, is_missing_cell, read_number
from surrogate_arena.importers.winner_words import NEITHER, NO_VERDICT_WORDS

ONE_HOT = MappingProxyType(
    {
        "winner_model_a": "a",
        "winner_model_b": "b",
        "winner_tie": "tie",
        "winner_tie_bothbad": NEITHER,
        "winner_bothbad": NEITHER,
    }
)
"""Columns of which one is true, to the word for the winner."""
ONE_HOT_NEEDED = ("winner_model_a", "winner_model_b")
SIDE_WINS = MappingProxyType(
    {
        "a_wins": "a",
        "a_won": "a",
        "a_is_better": "a",
        "model_a_wins": "a",
        "model_a_won": "a",
        "system_a_wins": "a",
        "system_a_won": "a",
        "b_wins": "b",
        "b_won": "b",
        "b_is_better": "b",
        "model_b_wins": "b",
        "model_b_won": "b",
        "system_b_wins": "b",
        "system_b_won": "b",
    }
)
"""Columns that say by true or false whether one side won, to that side."""
SIDE_SCORES = (
    ("score_a", "score_b"),
    ("score_1", "score_2"),
    ("model_a_score", "model_b_score"),
    ("answer_a_score", "answer_b_score"),
    ("response_a_score", "response_b_score"),
    ("points_a", "points_b"),
)
"""Columns of scores of both sides, of which the higher one wins."""
# Spreadsheets write their words for true and false in the language of their user.
_TRUE = frozenset(
    {
        "true",
        "1",
        "yes",
        "t",
        "x",
        "wahr",
        "ja",
        "vrai",
        "oui",
        "verdadero",
        "verdadeiro",
        "vero",
        "tosi",
        "waar",
        "sant",
        "sann",
        "sand",
        "prawda",
    }
)
_FALSE = frozenset(
    {
        "false",
        "0",
        "no",
        "f",
        "",
        "falsch",
        "nein",
        "faux",
        "non",
        "falso",
        "epätosi",
        "onwaar",
        "falskt",
        "falsk",
        "usann",
        "fałsz",
    }
)


@dataclass(frozen=True)
class WinnerReading:
    """The verdict on a pair.

    Attributes:
        winner: ``a``, ``b`` or ``tie``; the likelier one where the verdict is soft.
        probability_a: Probability that side A wins; None if the verdict is not soft.
        probability_b: Probability that side B wins; a tie has the rest.
        is_both_bad: Whether neither answer is good, which is a tie for ratings.
    """

    winner: str
    probability_a: float | None = None
    probability_b: float | None = None
    is_both_bad: bool = False

    @property
    def is_soft(self) -> bool:
        """Whether probabilities count instead of the winner."""
        return self.probability_a is not None


@dataclass(frozen=True)
class NoWinner:
    """Why a cell holds no verdict.

    Attributes:
        reason: Clause for a message, after ``it`` or the value.
        hint: How to write it instead; empty where the verdict is missing, which is no fault.
        value: The value at fault, where several columns were read.
    """

    reason: str
    hint: str = ""
    value: object = None

    @property
    def is_fault(self) -> bool:
        """Whether the cell holds something that cannot be read."""
        return bool(self.hint)


NO_WINNER = NoWinner("it has no winner")


def read_one_hot(record: Mapping[str, object]) -> WinnerReading | NoWinner:
    """Read columns such as ``winner_model_a``, of which one is true.

    Args:
        record: A row with some of the columns of ``ONE_HOT``.
    """
    marked: list[str] = []
    is_empty = True
    for column, word in ONE_HOT.items():
        if column not in record:
            continue
        text = winner_text(record[column])
        if text is None:
            continue
        is_empty = False
        is_true = _truth_of(text)
        if is_true is None:
            return _no_truth(column, record[column])
        if is_true:
            marked.append(word)
    if is_empty:
        return NO_WINNER
    if not marked:
        return NoWinner("no column of winners is true")
    if len(marked) > 1:
        return NoWinner("several columns of winners are true")
    return reading_of_word(marked[0])


def read_side_wins(record: Mapping[str, object]) -> WinnerReading | NoWinner:
    """Read a column such as ``a_wins``; false means that the other side won.

    Args:
        record: A row with columns of ``SIDE_WINS``: one, or one of each side, where both may be
            false in a tie.
    """
    winners: list[str] = []
    for column, value in record.items():
        text = winner_text(value)
        if text is None:
            continue
        side = SIDE_WINS[column]
        other = "b" if side == "a" else "a"
        is_true = _truth_of(text)
        if is_true is None:
            return _no_truth(column, value)
        winners.append(side if is_true else other)
    if not winners:
        return NO_WINNER
    if len(set(winners)) == 1:
        return reading_of_word(winners[0])
    columns = " and ".join(record)
    if any(_truth_of(winner_text(value) or "") for value in record.values()):
        return NoWinner(f"{columns} are both true")
    return reading_of_word("tie")


def read_side_scores(first: object, second: object) -> WinnerReading | NoWinner:
    """Read the scores of both sides, of which the higher one wins."""
    scores = []
    for value in (first, second):
        text = winner_text(value)
        if text is None:
            return NO_WINNER
        score = winner_number(text)
        if score is None:
            return NoWinner("is no score of a side", "write a number, or nothing", value)
        scores.append(score)
    if scores[0] == scores[1]:
        return reading_of_word("tie")
    return reading_of_word("a" if scores[0] > scores[1] else "b")


def _truth_of(text: str) -> bool | None:
    number = winner_number(text)
    mark = text.casefold() if number is None else f"{number:g}"
    if mark in _TRUE:
        return True
    return False if mark in _FALSE else None


def _no_truth(column: str, value: object) -> NoWinner:
    fault = f"is neither true nor false in the column {column}"
    hint = "write 1 or 0, or true or false"
    if winner_number(str(value)) is not None:
        hint = "of counts, write a row for each winner with its count in a column 'weight'"
    return NoWinner(fault, hint, value)


def read_probabilities(record: Mapping[str, object]) -> WinnerReading | NoWinner:
    """Read the columns of ``PROBABILITIES``, which are a soft verdict.

    Args:
        record: A row that has both columns.
    """
    texts = [winner_text(record[column]) for column in PROBABILITIES]
    if texts == [None, None]:
        return NO_WINNER
    first, second = (None if text is None else winner_number(text) for text in texts)
    rounding = 1e-6
    if first is None or second is None or min(first, second) < 0 or first + second > 1 + rounding:
        fault = f"{' and '.join(PROBABILITIES)} are no probabilities"
        hint = "write two numbers from 0 to 1 whose sum is at most 1, or nothing"
        return NoWinner(fault, hint, [record[column] for column in PROBABILITIES])
    winner = likeliest_winner(first, second)
    return WinnerReading(winner, probability_a=first, probability_b=second)


def winner_text(value: object) -> str | None:
    """Return a cell as text; None if it is missing."""
    if is_null(value):
        return None
    text = id_text(value).strip()
    is_missing = text.casefold() in NO_VERDICT_WORDS or is_missing_cell(text)
    return None if is_missing else text


def winner_number(text: str) -> float | None:
    """Return the number that a text is, with a point or a comma before decimals."""
    return read_number(text.replace(",", ".", 1))


def reading_of_word(word: str) -> WinnerReading:
    """Return the verdict of ``a``, ``b``, ``tie`` or ``both bad``."""
    if word == NEITHER:
        return WinnerReading("tie", is_both_bad=True)
    return WinnerReading(word)
