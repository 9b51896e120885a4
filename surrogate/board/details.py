"""Beside the ratings: examples, who won against whom, how far systems differ, a known truth."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.special import ndtr

from arena.data.arena import Arena
from arena.data.schema import QUESTION_KEY, SOFT
from arena.data.seeds import seed_sequence
from arena.rating.battles import Battles
from arena.rating.published import NO_ERRORS
from arena.rating.ratings import TOO_MANY, Ratings
from arena.statistics.rank_agreement import kendall_tau
from arena.statistics.significance import NORMAL_90
from surrogate.board.tables import ARENA, DIFFERENCES, WIN_MATRIX

MOST_EXAMPLES = 12
A_LANGUAGE = 2

_COLUMNS = [*QUESTION_KEY, "query", "system", "answer", "verdicts"]


def choose_examples(judged: Arena, most: int = MOST_EXAMPLES, seed: int = 0) -> pd.DataFrame:
    """Choose answers to show.

    Questions come in an order drawn by seed and content, judged ones first, the same for all
    systems, so that their answers stand side by side. A system shows up to two a language; where
    that is too many, one each of as many languages as there is room for before the second.

    Args:
        judged: The arena with the judgments of one judge.
        most: Examples a system at most; 0 for none.
        seed: The user's seed.

    Returns:
        Columns ``language, query_id, query, system, answer`` (as the system wrote them), and
        ``verdicts``: entries ``opponent, outcome`` (``win``, ``loss`` or ``tie`` of the system)
        and ``judge``. Sorted by language, question and system.
    """
    order = question_order(judged, seed)
    written = judged.answers[[*QUESTION_KEY, "system", "answer"]]
    answers = written.merge(order, on=QUESTION_KEY).sort_values(["system", "order"])
    answers["turn"] = answers.groupby(["system", "language"]).cumcount()
    few = answers[answers["turn"] < A_LANGUAGE].sort_values(["system", "turn", "order"])
    chosen = few.groupby("system").head(most)
    table = chosen.sort_values(["language", "order", "system"], ignore_index=True)
    table["verdicts"] = pd.Series(_verdicts(judged, table), dtype=object)
    return table[_COLUMNS]


def question_order(judged: Arena, seed: int) -> pd.DataFrame:
    """Give every question its place: judged ones first, else as drawn by seed and content.

    Args:
        judged: The arena with the judgments of one judge.
        seed: The user's seed.

    Returns:
        Columns ``language, query_id, query`` and ``order``, 0 for the first.
    """
    questions = judged.queries[[*QUESTION_KEY, "query"]]
    seen = set(judged.judgments[QUESTION_KEY].itertuples(index=False, name=None))
    keys = list(questions[QUESTION_KEY].itertuples(index=False, name=None))
    drawn = sorted(keys, key=lambda key: (key not in seen, _draw(seed, key), key))
    place = {key: number for number, key in enumerate(drawn)}
    return questions.assign(order=[place[key] for key in keys])


def _draw(seed: int, key: Sequence[str]) -> int:
    return int(seed_sequence(seed, "examples", *key).generate_state(1)[0])


def _verdicts(judged: Arena, chosen: pd.DataFrame) -> list[list[dict[str, str]]]:
    wanted = pd.MultiIndex.from_frame(chosen[QUESTION_KEY])
    judgments = judged.judgments
    rows = judgments[pd.MultiIndex.from_frame(judgments[QUESTION_KEY]).isin(wanted)]
    found: dict[tuple[str, str, str], list[dict[str, str]]] = {}
    columns = [*QUESTION_KEY, "system_a", "system_b", "winner", "judge"]
    for language, query_id, first, second, winner, judge in rows[columns].itertuples(
        index=False, name=None
    ):
        for system, opponent, side in ((first, second, "a"), (second, first, "b")):
            outcome = "tie" if winner == "tie" else "win" if winner == side else "loss"
            entry = {"opponent": opponent, "outcome": outcome, "judge": judge}
            found.setdefault((language, query_id, system), []).append(entry)
    keys = chosen[[*QUESTION_KEY, "system"]].itertuples(index=False, name=None)
    return [sorted(found.get(key, []), key=lambda entry: tuple(entry.values())) for key in keys]


COMPARED = {
    "rating": "rating",
    "verdicts_alone": "arena_rating",
    "surrogate_alone": "surrogate_rating",
}
"""What is compared with the truth, to its column of a board."""
ROUNDING = 1e-12
"""Variances below it are rounding errors of none."""


def arena_table(ratings: Ratings, language: str) -> pd.DataFrame:
    """Arrange the arena's ratings of a language as boards hold them.

    Args:
        ratings: The arena's ratings.
        language: Language code.

    Returns:
        Columns ``language, system, rank, rank_low, rank_high, tier, rating, low, high, note``,
        best first: ``rank_low, rank_high`` hold all ranks at once at 95%, systems of a ``tier`` (1
        the best) are not distinguishable from its best one, and ``note`` says why a system has no
        rating or tier; see ``arena.rating.intervals``.
    """
    table = ratings.table.assign(language=language)
    reason = next((note for note in ratings.notes if note in (TOO_MANY, NO_ERRORS)), "")
    told = table["note"].where((table["note"] != "") | table["rating"].isna(), reason)
    return table.assign(note=told)[ARENA.names]


def win_table(judgments: pd.DataFrame) -> pd.DataFrame:
    """Count who won against whom: whole verdicts, a soft one by its likelier winner.

    Args:
        judgments: Columns ``language, system_a, system_b, winner``; of one judge.

    Returns:
        Columns ``language, system, opponent, wins, losses, ties``, each pair in both directions;
        pairs that never met are not there. Sorted.
    """
    if judgments.empty:
        return WIN_MATRIX.empty()
    whole = judgments.drop(columns=SOFT, errors="ignore")
    parts = [
        Battles.from_judgments(rows).outcomes().assign(language=str(language))
        for language, rows in whole.groupby("language")
    ]
    table = pd.concat(parts).sort_values(WIN_MATRIX.of_kind("text"), ignore_index=True)
    return table[WIN_MATRIX.names]


def difference_table(rating: pd.Series, covariance: pd.DataFrame, language: str) -> pd.DataFrame:
    """Say of each two systems of a language by how much one is better, and how surely.

    Ratings are taken as normal: of their difference the variance is the sum of the two variances
    less twice the covariance.

    Args:
        rating: System to rating, best first; without missing ones.
        covariance: Of these ratings, systems by systems; NaN where it is not known.
        language: Language code.

    Returns:
        Columns ``tables.DIFFERENCES``, each pair once, ``system`` the better rated one: its rating
        less the opponent's, the 90% interval of that, and the ``probability`` that it is better;
        NaN where the covariance is.
    """
    first, second = np.triu_indices(len(rating), 1)
    names = rating.index.to_numpy(object)
    values = rating.to_numpy(np.float64)
    known = covariance.loc[rating.index, rating.index].to_numpy(np.float64)
    variances = np.diag(known)
    variance = variances[first] + variances[second] - 2 * known[first, second]
    error = np.sqrt(np.where(variance > ROUNDING, variance, np.nan))
    difference = values[first] - values[second]
    table = pd.DataFrame(
        {
            "language": language,
            "system": names[first],
            "opponent": names[second],
            "difference": difference,
            "low": difference - NORMAL_90 * error,
            "high": difference + NORMAL_90 * error,
            "probability": ndtr(difference / error),
        }
    )
    return table.astype(dict.fromkeys(DIFFERENCES.of_kind("text"), "str"))


def compare_with_truth(board: pd.DataFrame, truth: pd.DataFrame) -> pd.DataFrame:
    """Compare the board's ratings, and those by verdicts and by surrogate alone, with the truth.

    Args:
        board: Rows with ``language, system, rating, arena_rating, surrogate_rating``.
        truth: Columns ``language, system, quality``.

    Returns:
        Columns ``language, rating, verdicts_alone, surrogate_alone``: Kendall tau-b of each with
        the truth, and a last row ``macro`` with the means.
    """
    merged = board.merge(truth, on=["language", "system"], validate="one_to_one")
    compared = pd.DataFrame(
        [
            {"language": language}
            | {
                name: kendall_tau(_floats(part[column]), _floats(part["quality"]))
                for name, column in COMPARED.items()
            }
            for language, part in merged.groupby("language")
        ]
    )
    macro = {"language": "macro", **compared[list(COMPARED)].mean().to_dict()}
    return pd.concat([compared, pd.DataFrame([macro])], ignore_index=True)


def _floats(values: pd.Series) -> npt.NDArray[np.float64]:
    return np.asarray(values, dtype=np.float64)
