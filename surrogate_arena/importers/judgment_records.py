"""Judgments as records: what their winners are, and which of them are copies or repeats."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from typing import Any

from arena.data.judge_names import names_one_judge
from arena.data.schema import BOTH_BAD, REPEAT, VERDICT_FLAGS, VOTER
from surrogate_arena.importers.winner_columns import NoWinner, WinnerReading
from surrogate_arena.importers.winners import read_winners

ROW_DIGEST = "row digest"
"""Key of a record under which it keeps the digest of the row of its file."""


def digest_of(row: dict[str, Any]) -> bytes:
    """Return a digest that tells a row from others, whatever it holds."""
    text = json.dumps(row, sort_keys=True, default=str).encode(errors="surrogatepass")
    return hashlib.blake2b(text, digest_size=16).digest()


def with_winner_readings(
    judgments: Sequence[dict[str, Any]], field: str
) -> Iterator[tuple[dict[str, Any], WinnerReading | NoWinner]]:
    """Yield the judgments of a file, each with the reading of its winner.

    Args:
        judgments: Records whose ``winner`` is a cell of the file, or a reading of several cells.
        field: Name of the column of winners.

    Raises:
        UndecidableWinnersError: If the cells together can be read in more than one way.
    """
    cells = [row for row in judgments if not isinstance(row["winner"], WinnerReading | NoWinner)]
    winners = [row["winner"] for row in cells]
    sides = [(row["system_a"], row["system_b"]) for row in cells]
    # Cells are read together: what 1 means depends on the other cells of the file.
    readings = iter(read_winners(winners, sides, field=field))
    for row in judgments:
        winner = row["winner"]
        yield row, winner if isinstance(winner, WinnerReading | NoWinner) else next(readings)


def columns_of(verdict: WinnerReading) -> dict[str, object]:
    """Return the columns of judgments that hold a verdict."""
    columns: dict[str, object] = {"winner": verdict.winner}
    if verdict.is_both_bad:
        columns[BOTH_BAD] = True
    if verdict.is_soft:
        columns["probability_a"] = verdict.probability_a
        columns["probability_b"] = verdict.probability_b
    return columns


def number_repeats(judgments: Sequence[dict[str, Any]]) -> None:
    """Number the votes of one judge on the same question and sides, exact copies alike.

    Without a number, judgments that differed in the file, such as in their time, would be
    taken for copies of each other.
    """
    votes_by_identity: dict[tuple[object, ...], dict[object, int]] = {}
    for number, row in enumerate(judgments):
        # Without its digest a row is unlike all others.
        digest = row.pop(ROW_DIGEST, number)
        if VOTER not in row and not names_one_judge(str(row["judge"])):
            continue
        names = sorted(row.keys() - {"place", REPEAT, VERDICT_FLAGS})
        identity = tuple(repr(row[name]) for name in names)
        votes = votes_by_identity.setdefault(identity, {})
        vote = votes.setdefault(digest, len(votes) + 1)
        if vote > 1 and REPEAT not in row:
            row[REPEAT] = str(vote)
