"""Reasons for a new system's place: its answers, systems like it, verdicts."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from types import MappingProxyType

import numpy as np
import pandas as pd

from arena.data.wording import count_of
from surrogate.ranking.ranked_systems import RankedSystems

_NAME = re.compile(r"\w+")
CLAUSES = MappingProxyType(
    {
        "answer_length": ("writes longer answers", "writes shorter answers"),
        "bleu": ("is closer to the reference answers", "is further from the reference answers"),
        "citation_density": ("cites more often", "cites less often"),
        "citation_map": ("cites relevant passages earlier", "cites relevant passages later"),
        "citation_precision": (
            "cites fewer irrelevant passages",
            "cites more irrelevant passages",
        ),
        "citation_recall": ("cites more relevant passages", "cites fewer relevant passages"),
        "citations": ("cites more passages", "cites fewer passages"),
        "consensus": (
            "agrees more with the others' answers",
            "agrees less with the others' answers",
        ),
        "content_coverage": (
            "takes more from the passages it cites",
            "takes less from the passages it cites",
        ),
        "english": ("answers more in English", "answers less in English"),
        "fragment_coverage": (
            "copies more words of the passages it cites",
            "copies fewer words of the passages it cites",
        ),
        "fragment_density": ("copies longer passages", "copies shorter passages"),
        "invalid_citation_share": (
            "cites unknown passages more often",
            "cites unknown passages less often",
        ),
        "invalid_citations": ("cites more unknown passages", "cites fewer unknown passages"),
        "longest_common_span": ("copies longer runs of words", "copies shorter runs of words"),
        "markup_artifacts": ("leaves more markup behind", "leaves less markup behind"),
        "ngram_coverage": (
            "shares more wording with the passages it cites",
            "shares less wording with the passages it cites",
        ),
        "query_coverage": (
            "takes up more words of the question",
            "takes up fewer words of the question",
        ),
        "repetition": ("repeats itself more", "repeats itself less"),
        "rouge_l": ("is closer to the reference answers", "is further from the reference answers"),
        "script_mixing": ("mixes scripts more", "mixes scripts less"),
        "target_language": (
            "answers more in the question's language",
            "answers less in the question's language",
        ),
        "truncation": (
            "ends more answers without a full stop",
            "ends fewer answers without a full stop",
        ),
        "unreadable_characters": (
            "writes more unreadable characters",
            "writes fewer unreadable characters",
        ),
        "unsupported_names": (
            "has more names that no cited passage holds",
            "has fewer names that no cited passage holds",
        ),
        "unsupported_numbers": (
            "has more numbers that no cited passage holds",
            "has fewer numbers that no cited passage holds",
        ),
    }
)
"""Name of a feature to what a system with a higher, and with a lower, value does."""
MOST_NAMED = 2
"""Features in either direction, and questions, that reasons name."""


def place_reasons(placed: RankedSystems) -> dict[str, str]:
    """Say why each new system has its place; empty where nothing tells it."""
    explained = placed.new.merge(placed.explanations, on=["language", "system"])
    has_languages = explained["language"].nunique() > 1
    reasons = {}
    for system, rows in explained.groupby("system", sort=False):
        faults = () if placed.faults is None else placed.faults.of(str(system)).summary
        reasons[str(system)] = "; ".join([*faults, *_reasons(rows, has_languages)])
    return reasons


def _reasons(rows: pd.DataFrame, has_languages: bool) -> Iterator[str]:
    placed = rows[rows[["rank", "place"]].notna().any(axis=1)]
    originals = [name for name in placed["original"].unique() if name]
    if originals:
        yield f"its answers are nearly those of {', '.join(originals)}, so it gets that rating"
    n_judgments = int(rows["judgments"].sum())
    if n_judgments:
        share = rows.loc[rows["judgments"] > 0, "verdict_share"].mean()
        yield f"{share:.0%} by {count_of(n_judgments, 'verdict')} on it"
    explained = placed[(placed["original"] == "") & placed["moved_by"].notna()]
    yield from _feature_moves(explained)
    likenesses = []
    for column, kind in (("like_winners", "winning"), ("like_losers", "losing")):
        questions = _question_names(explained, column, has_languages)
        if questions:
            count = count_of(len(questions), "question")
            likenesses.append(f"{kind} ones on {count} ({_some_of(questions)})")
    if likenesses:
        yield f"its answers are most like {', '.join(likenesses)}"


def _feature_moves(rows: pd.DataFrame) -> Iterator[str]:
    # Logits that a feature must move a rating by to be named as a reason
    least_move = 0.05
    added: defaultdict[str, float] = defaultdict(float)
    differences: defaultdict[str, float] = defaultdict(float)
    for moved_by in rows["moved_by"]:
        for feature, logits, difference in moved_by:
            if np.isfinite(difference):
                added[feature] += logits
                differences[feature] += difference
    for direction, sign in (("higher", 1), ("lower", -1)):
        moves = []
        for name, logits in added.items():
            if sign * logits >= least_move:
                moves.append((sign * logits, name))
        clauses: list[str] = []
        for _, name in sorted(moves, reverse=True):
            clause = _feature_clause(name, differences[name])
            # Features that measure one thing in two ways share their words.
            if clause not in clauses:
                clauses.append(clause)
        if clauses:
            yield f"rated {direction} because it {' and '.join(clauses[:MOST_NAMED])}"


def _feature_clause(feature: str, difference: float) -> str:
    match = _NAME.match(feature)
    name = feature if match is None else match[0]
    higher, lower = CLAUSES.get(name, (f"has a higher {feature}", f"has a lower {feature}"))
    return higher if difference > 0 else lower


def _question_names(rows: pd.DataFrame, column: str, has_languages: bool) -> list[str]:
    names = []
    for language, questions in zip(rows["language"], rows[column], strict=True):
        for question in questions:
            names.append(f"{language} {question}" if has_languages else question)
    return names


def _some_of(questions: list[str]) -> str:
    long_name = 12
    n_shown = 1 if len(questions[0]) > long_name else MOST_NAMED
    some = ", ".join(questions[:n_shown])
    return some if len(questions) <= n_shown else f"such as {some}"
