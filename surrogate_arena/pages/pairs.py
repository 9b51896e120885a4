"""The data of ``pairs/*.html``: any two systems of a language head to head, by numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from arena.computing.codes import value_codes
from arena.data.languages import language_name
from arena.data.tables import plain_records
from surrogate.board.board import Board
from surrogate_arena.cli.shown_numbers import finite
from surrogate_arena.pages.board_page import compact_numbers
from surrogate_arena.pages.formats import slugs
from surrogate_arena.pages.pair_texts import Texts
from surrogate_arena.pages.views import (
    Row,
    cut_text,
    group_means,
)

MOST_SYSTEMS = 300
"""Systems of a language that are compared on its page: the best ones, where there are more."""
MOST_ROWS = 300
"""Rows of the table of pairs; of more pairs those of neighbors in the ranking stand there."""
WINNERS = ("a", "tie", "b")
NO_RESULTS: dict[str, Any] = {"questions": [], "verdicts": [], "reasons": {}}
NUMBERS = [
    "rank",
    "rank_low",
    "rank_high",
    "tier",
    "wins",
    "wins_low",
    "wins_high",
    "rating",
    "low",
    "high",
    "verdict_share",
    "surrogate_rating",
    "arena_rating",
    "coverage",
]


def pair_page(
    board: Board,
    texts: Texts | str,
    names: Mapping[str, str],
    languages: Sequence[str],
    language: str,
    caution: str,
) -> Row:
    """Prepare the page of a language; its ``data`` is for scripts.

    ``texts`` may be the reason why pages have none, ``names`` are slugs of systems, and
    ``languages`` stand in the order in which pages list them.
    """
    table = board.table(language)
    ratings = table[:MOST_SYSTEMS]
    systems = list(ratings["system"])
    differences = _among(board.differences, language, systems)
    met = _among(board.win_matrix, language, systems)
    questions: Row | None = None
    results = NO_RESULTS
    n_left_out = 0
    if isinstance(texts, Texts):
        questions, results, n_left_out = _questions(language, systems, texts)
    rows = _rows(systems, differences, met)
    files = slugs(board.languages)
    data = {
        "language": language,
        "languages": {code: [language_name(code), files[code]] for code in languages},
        "systems": [[system, names[system]] for system in systems],
        "ahead": _triangle(systems, differences, ["probability"]),
        "met": _triangle(systems, met, ["wins", "ties", "losses"]),
        "features": _features(board.features, language, systems),
        "columns": NUMBERS,
        "ratings": compact_numbers(ratings[NUMBERS]),
        "notes": list(ratings["note"]),
        **results,
    }
    return {
        "texts": questions,
        "absent": texts if isinstance(texts, str) else "",
        "verdicts_left_out": n_left_out,
        "language": language,
        "caution": board.summary.macro.judge_fault or caution,
        "rows": rows,
        "pairs": len(differences),
        "systems_left_out": len(table) - len(ratings),
        "has_verdicts": any(row["wins"] is not None for row in rows),
        "data": data,
        "place_of": {system: index for index, system in enumerate(systems)},
    }


def _among(table: pd.DataFrame, language: str, systems: Sequence[str]) -> pd.DataFrame:
    is_shown = table["language"].eq(language)
    is_shown &= table["system"].isin(systems) & table["opponent"].isin(systems)
    return table[is_shown]


def _questions(language: str, systems: Sequence[str], texts: Texts) -> tuple[Row, Row, int]:
    judged = texts.judgments[texts.judgments["language"] == language]
    is_shown = judged[["system_a", "system_b"]].isin(systems).all(axis=1)
    verdicts = judged[is_shown]
    reasons = verdicts.get("reason", pd.Series("", verdicts.index)).fillna("").astype(str)
    short_reasons = [cut_text(reason.strip(), 1_000) for reason in reasons.tolist()]
    verdicts = verdicts.assign(reason=short_reasons)
    questions = texts.of(language, systems, verdicts)
    results, n_absent = _results(language, systems, questions["questions"], texts, verdicts)
    return questions, results, n_absent + len(judged) - len(verdicts)


def _rows(systems: Sequence[str], differences: pd.DataFrame, met: pd.DataFrame) -> list[Row]:
    pair = ["system", "opponent"]
    table = differences.merge(met[[*pair, "wins", "ties", "losses"]], on=pair, how="left")
    if len(table) > MOST_ROWS:
        ranks = {system: index for index, system in enumerate(systems)}
        distance = table["opponent"].map(ranks) - table["system"].map(ranks)
        table = table[distance == 1].head(MOST_ROWS)
    return plain_records(table)


def _triangle(
    systems: Sequence[str], table: pd.DataFrame, columns: list[str]
) -> list[list[float | int | None]]:
    """Return numbers of the pairs (0, 1), (0, 2) …, (1, 2) …."""
    pairs = zip(table["system"], table["opponent"], strict=True)
    numbers_by_pair = dict(zip(pairs, compact_numbers(table[columns]), strict=True))
    return [numbers_by_pair.get(pair, []) for pair in combinations(systems, 2)]


def _features(features: pd.DataFrame, language: str, systems: Sequence[str]) -> Row:
    in_language = features[features["language"] == language]
    means = group_means(in_language, ["system"]).reindex(list(systems)).dropna(axis=1, how="all")
    return {
        "names": list(means),
        "means": [list(map(_short, row)) for row in means.to_numpy(float)],
        "spread": list(map(_short, means.std(ddof=0))),
    }


def _short(value: float) -> float | None:
    return None if finite(value) is None else float(f"{value:.4g}")


def _results(
    language: str,
    systems: Sequence[str],
    shown: Sequence[Row],
    texts: Texts,
    verdicts: pd.DataFrame,
) -> tuple[Row, int]:
    """Return verdicts and reasons question by question, for scripts; and how many were left out.

    ``questions``: id, title and place among those shown (-1: not shown), which come first;
    ``verdicts``: numbers ``(a * systems + b) * 3 + winner``, a winner as in ``WINNERS``;
    ``reasons``: place of a shown question to the reasons of its verdicts.
    """
    by_question = _coded_verdicts(verdicts, systems)
    shown_keys = [question["key"] for question in shown]
    judged_keys = {key for key in texts.queries if key[0] == language and key[1] in by_question}
    results: Row = {"questions": [], "verdicts": [], "reasons": {}}
    n_taken = 0
    # Verdicts that a page has room for; those on questions shown are there in any case.
    most_verdicts = 100_000
    for number, key in enumerate([*shown_keys, *sorted(judged_keys - set(shown_keys))]):
        codes, reasons = by_question.get(key[1], ([], []))
        is_shown = number < len(shown_keys)
        if not is_shown and n_taken + len(codes) > most_verdicts:
            break
        title = cut_text(texts.queries[key], 120)
        results["questions"].append([key[1], title, number if is_shown else -1])
        results["verdicts"].append(codes)
        n_taken += len(codes)
        if is_shown and any(reasons):
            results["reasons"][str(number)] = reasons
    return results, len(verdicts) - n_taken


def _coded_verdicts(
    verdicts: pd.DataFrame, systems: Sequence[str]
) -> dict[str, tuple[list[int], list[str]]]:
    first = pd.Categorical(verdicts["system_a"], systems).codes.astype(np.int64)
    second = pd.Categorical(verdicts["system_b"], systems).codes
    winners = pd.Categorical(verdicts["winner"], WINNERS).codes
    codes = (first * len(systems) + second) * len(WINNERS) + winners
    reasons = verdicts["reason"].to_numpy(object)
    question, ids = value_codes(verdicts["query_id"])
    ordered = np.lexsort((codes, question))
    ends = np.cumsum(np.bincount(question))
    by_question = {}
    for query_id, rows in zip(ids, np.split(ordered, ends)[:-1], strict=True):
        by_question[str(query_id)] = (codes[rows].tolist(), reasons[rows].tolist())
    return by_question
