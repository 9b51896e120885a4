"""What ``pairs/*.html`` show: any two systems of a language head to head, and their answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import pandas as pd

from arena.data.rows import plain_records
from arena.judging.pairs import QuestionKey
from features.engine.columns import feature_columns
from surrogate.board.board import Board
from surrogate.publish.formats import finite, language_name, scale_over, slugs, span
from surrogate.publish.site.side_by_side import SideBySide, Texts, cut_text
from surrogate.publish.view import compact_numbers

MOST_ROWS = 300
"""Rows of the table of pairs; of more pairs those of neighbors in the ranking stand there."""
MOST_VERDICTS = 100_000
"""Verdicts of a page's results by question; those on questions shown are there in any case."""
MOST_TITLES = 2_000
"""Questions of a page's results by question, likewise."""
LONGEST_TITLE = 120
SIGNIFICANT = 4

WINNERS = ("a", "tie", "b")
NO_RESULTS: Mapping[str, Any] = {"questions": [], "verdicts": [], "reasons": {}}
VERBS = {"consensus": "is rated above"}
BY = {
    "consensus": "over resampled questions",
    "posterior": "by the board's posterior of ratings",
    "surrogate": "by the intervals of ratings, taken on their own",
}
NUMBERS = [
    *("rank", "rank_low", "rank_high", "tier", "rating", "low", "high", "verdict_share"),
    *("surrogate_rating", "surrogate_low", "surrogate_high"),
    *("arena_rating", "arena_low", "arena_high", "coverage"),
]


class PairPages:
    """The pages of all languages; what they share is computed once."""

    def __init__(self, board: Board, texts: Texts | str, names: Mapping[str, str]) -> None:
        """Prepare what pages share.

        Args:
            board: The board.
            texts: The arena's answers and verdicts, or why they are not at hand.
            names: System to slug.
        """
        self._board, self._texts, self._names = board, texts, names
        self.slugs = slugs(board.languages)

    def page(self, language: str) -> dict[str, Any]:
        """Prepare the page of a language, as its template takes it.

        Returns:
            Among others ``rows``: pairs of systems with the ``place`` of their difference on a
            line and the verdicts between them; ``pairs``: how many pairs there are; ``data``: what
            scripts read; ``texts``: answers side by side, or None and why in ``absent``;
            ``unjudged``: why there are no verdicts on them; and how many ``verdicts_left_out``.
        """
        board, ratings = self._board, self._board.table(language)
        systems = list(ratings["system"])
        differences = board.differences[board.differences["language"] == language]
        met = board.win_matrix[board.win_matrix["language"] == language]
        shown, absent, unjudged, results, left_out = None, "", "", NO_RESULTS, 0
        if isinstance(self._texts, Texts):
            shown, unjudged = self._texts.of(language, systems), self._texts.unjudged
            results, left_out = _results(language, systems, shown, self._texts.queries)
        else:
            absent = self._texts
        found = board.summary.languages.get(language)
        rows = _rows(ratings, differences, met)
        data = {
            "language": language,
            "languages": {code: [language_name(code), slug] for code, slug in self.slugs.items()},
            "scale": board.summary.scale,
            "verb": VERBS.get(board.summary.settings.ratings, "is better than"),
            "by": BY[board.summary.settings.ratings],
            "systems": [[system, self._names[system]] for system in systems],
            "columns": NUMBERS,
            "ratings": compact_numbers(ratings[NUMBERS]),
            "notes": list(ratings["note"]),
            "apart": _triangle(systems, differences, ["difference", "low", "probability"]),
            "met": _triangle(systems, met, ["wins", "ties", "losses"]),
            "features": _features(board.features, language, systems),
            **results,
        }
        return {
            "language": language,
            "conclusions": () if found is None else found.conclusions,
            "rows": rows,
            "pairs": len(differences),
            "has_verdicts": any(row["wins"] is not None for row in rows),
            "data": data,
            "place_of": {system: place for place, system in enumerate(systems)},
            "texts": shown,
            "absent": absent,
            "unjudged": unjudged,
            "verdicts_left_out": left_out,
        }


def _rows(
    ratings: pd.DataFrame, differences: pd.DataFrame, met: pd.DataFrame
) -> list[dict[str, Any]]:
    table = differences.merge(
        met[["system", "opponent", "wins", "ties", "losses"]],
        on=["system", "opponent"],
        how="left",
    )
    if len(table) > MOST_ROWS:
        ranked = list(ratings["system"])
        place = {system: number for number, system in enumerate(ranked)}
        apart = table["opponent"].map(place) - table["system"].map(place)
        table = table[apart == 1].head(MOST_ROWS)
    scale = scale_over([0.0, *table[["difference", "low", "high"]].to_numpy(float).ravel()])
    return [
        row
        | {
            "place": span(scale, row["difference"], row["low"], row["high"]),
            "zero": scale.at(0.0),
        }
        for row in plain_records(table)
    ]


def _triangle(
    systems: Sequence[str], table: pd.DataFrame, columns: list[str]
) -> list[list[float | int | None]]:
    """Return numbers of each two systems, pairs in the order (0, 1), (0, 2) …, (1, 2) ….

    Numbers are as seen from the system that stands first; a pair that is not in the table has none.
    """
    known = {
        (system, opponent): row
        for system, opponent, row in zip(
            table["system"], table["opponent"], compact_numbers(table[columns]), strict=True
        )
    }
    return [known.get(pair, []) for pair in combinations(systems, 2)]


def _features(features: pd.DataFrame, language: str, systems: Sequence[str]) -> dict[str, Any]:
    """Return each system's mean of each feature, and how these spread over systems."""
    names = feature_columns(features)
    own = features[features["language"] == language]
    means = own.groupby("system")[names].mean().reindex(list(systems))
    known = [name for name in names if means[name].notna().any()]
    return {
        "names": known,
        "means": [[_short(value) for value in row] for row in means[known].to_numpy(float)],
        "spread": [_short(value) for value in means[known].std(ddof=0)],
    }


def _short(value: float) -> float | None:
    number = finite(value)
    return None if number is None else float(f"{number:.{SIGNIFICANT}g}")


def _results(
    language: str, systems: Sequence[str], shown: SideBySide, queries: Mapping[QuestionKey, str]
) -> tuple[dict[str, Any], int]:
    """Return what the judge said, question by question, for scripts to read.

    Returns:
        ``questions``: id, text and place among those shown (-1: not shown), these first;
        ``verdicts``: of each question, numbers that stand for side A, side B and winner:
        ``(a * systems + b) * 3 + winner``, a winner as in ``WINNERS``; ``reasons``: place of a
        question to what was said with each of these, of those shown. And how many verdicts were
        left out.
    """
    said = _coded(shown.verdicts, systems)
    by_question = dict(iter(said.groupby("query_id")))
    first = [question.key for question in shown.questions]
    judged = {key for key in queries if key[0] == language and key[1] in by_question}
    others = sorted(judged - set(first))[: max(MOST_TITLES - len(first), 0)]
    questions, verdicts, reasons, taken = [], [], {}, 0
    for number, key in enumerate([*first, *others]):
        own, is_shown = by_question.get(key[1], said.iloc[:0]), number < len(first)
        if not is_shown and taken + len(own) > MOST_VERDICTS:
            break
        title = cut_text(queries[key], LONGEST_TITLE)
        questions.append([key[1], title, number if is_shown else -1])
        verdicts.append(own["code"].tolist())
        taken += len(own)
        if is_shown and own["reason"].any():
            reasons[str(number)] = own["reason"].tolist()
    found = {"questions": questions, "verdicts": verdicts, "reasons": reasons}
    return found, len(said) - taken


def _coded(verdicts: pd.DataFrame, systems: Sequence[str]) -> pd.DataFrame:
    """Return ``query_id, code, reason`` of verdicts, in the order of their codes."""
    place = {system: number for number, system in enumerate(systems)}
    winner = {name: number for number, name in enumerate(WINNERS)}
    pairs = verdicts["system_a"].map(place) * len(systems) + verdicts["system_b"].map(place)
    codes = (pairs * len(WINNERS) + verdicts["winner"].map(winner)).astype("int64")
    table = verdicts[["query_id", "reason"]].assign(code=codes)
    return table.sort_values("code", kind="stable")
