"""Does a surrogate know on which questions a candidate loses, without a verdict on it?

    python benchmarks/tables.py look

Every system in turn is a candidate that nobody has judged: its verdicts are left out. The questions
on which it is expected to lose most against a baseline, by scores of single answers, are the ten to
look at: the share of these that it lost in fact, the share of all its questions that it lost (as
random ones would show), and their difference with its standard error over candidates. "Trained"
learned from the verdicts on the other systems; "untrained" is a first board's evidence. Neither has
the weights that come with the package: some of these arenas taught them. Pairs with fewer than 20
judged questions are left out.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from arena import Arena, read_arena
from arena.data.schema import QUESTION_KEY
from arena.rating.judgments import points_of_a
from arena.rating.soft_verdicts import calibrated_judgments
from features.engine.extraction import extract
from surrogate.board.unjudged_board import first_ratings
from surrogate.learning.answers_surrogate import AnswersSurrogate
from surrogate.learning.cross_fitting import train_and_rate
from surrogate.learning.language_data import TournamentSettings, language_data
from surrogate.learning.surrogate import ANSWER_MARK
from surrogate.learning.training_data import with_answers

Cell = Any
LISTED = 10
N_CANDIDATES = 8
FEWEST_QUESTIONS = 20


def points_by_question(judgments: pd.DataFrame) -> pd.DataFrame:
    """Return the share of the points that a system won of an opponent, by question."""
    verdicts = calibrated_judgments(judgments, hard=True)
    points = points_of_a(verdicts)
    sides = []
    for own, other, won in (
        ("system_a", "system_b", points),
        ("system_b", "system_a", 1.0 - points),
    ):
        rows = verdicts[QUESTION_KEY].assign(
            system=verdicts[own], opponent=verdicts[other], points=won
        )
        sides.append(rows)
    keys = ["language", "system", "opponent", "query_id"]
    return pd.concat(sides).groupby(keys)["points"].mean().reset_index()


def trained_scores(arena: Arena, X: pd.DataFrame, candidate: str) -> pd.Series:
    """Rate every answer by a surrogate that saw no verdict on the candidate."""
    is_on_it = arena.judgments[["system_a", "system_b"]].eq(candidate).any(axis=1)
    others = replace(arena, judgments=arena.judgments[~is_on_it])
    settings = TournamentSettings(tournaments=20)
    parts = language_data(others, X[X["system"] != candidate], settings)
    singles = X.assign(system=X["system"] + ANSWER_MARK + X["query_id"])
    rated, _ = train_and_rate(AnswersSurrogate(preferences={}), parts, singles)
    names = rated["system"].str.split(ANSWER_MARK, n=1, expand=True)
    keys = [rated["language"], names[0], names[1]]
    return pd.Series(rated["rating"].to_numpy(), pd.MultiIndex.from_arrays(keys))


def untrained_scores(arena: Arena, X: pd.DataFrame) -> pd.Series:
    """Score every answer by what puts systems on a board without verdicts."""
    parts = []
    for (language, query_id), rows in X.groupby(["language", "query_id"]):
        systems = sorted(rows["system"].unique())
        reference = arena.info.reference_system
        first = first_ratings(rows, language, systems, 1, reference)
        ratings = first.table.set_index("system")["rating"]
        keys = [[language] * len(ratings), ratings.index, [query_id] * len(ratings)]
        parts.append(pd.Series(ratings.to_numpy(), pd.MultiIndex.from_arrays(keys)))
    return pd.concat(parts)


def precisions(points: pd.DataFrame, scores: pd.Series) -> Iterator[tuple[float, float]]:
    """Yield of each baseline the share lost of the listed questions, and of all."""
    for (language, opponent), rows in points.groupby(["language", "opponent"]):
        if len(rows) < FEWEST_QUESTIONS:
            continue
        own = [scores.get((language, rows["system"].iloc[0], name)) for name in rows["query_id"]]
        other = [scores.get((language, opponent, name)) for name in rows["query_id"]]
        losses = np.array(other, float) - np.array(own, float)
        is_lost = rows["points"].to_numpy() < 0.5
        order = np.argsort(-np.nan_to_num(losses, nan=-np.inf), kind="stable")[:LISTED]
        yield float(is_lost[order].mean()), float(is_lost.mean())


def where_to_look(folder: Path, judge: str) -> list[Cell]:
    """Return the share lost at random, and listed by each kind of surrogate with its gain."""
    arena = read_arena(folder).judged_by(judge)
    X = with_answers(extract(arena), arena.answers)
    points = points_by_question(arena.judgments)
    systems = sorted(points["system"].unique())
    untrained = untrained_scores(arena, X)
    rows = []
    for candidate in np.random.default_rng(0).permutation(systems)[:N_CANDIDATES]:
        own = points[points["system"] == candidate]
        trained = trained_scores(arena, X, candidate)
        shares = [list(precisions(own, scores)) for scores in (trained, untrained)]
        if shares[0]:
            rows.append(np.mean(shares, axis=1).ravel())
    table = pd.DataFrame(rows, columns=["trained", "random", "untrained", "of untrained"])
    cells: list[Cell] = [float(table["random"].mean())]
    for kind in ("trained", "untrained"):
        gains = table[kind] - table["random"]
        cells += [float(table[kind].mean()), [float(gains.mean()), float(gains.sem())]]
    return cells
