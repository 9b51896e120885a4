"""Printed figures computed a second time, by pandas, numpy and scipy alone, from the files.

    python benchmarks/recomputed.py [--arenas ../shared/data/arenas]

prints each figure beside the printed one of ``tables.json``, and fails if one is farther away than
its last digit, or for what is drawn at random than stated. Of what is recomputed:

* pairs: right in both orders, right, flips, side A; juries: the majority
* kappa of two people, and of GPT-4 and one vote, on vicuna80
* unseen: half of the questions; replication: verdicts alone (other draws: within two errors)
* constant judges of GroUSE, from the conditions of its types

The tables ``nulls``, ``gate``, ``refusals``, ``cheaper`` and ``coverage`` are of simulated worlds,
whose truth is known.
"""

from __future__ import annotations

import argparse
import gzip
import json
import operator
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.optimize import minimize
from scipy.stats import kendalltau

ROOT = Path(__file__).parents[1]
TYPES = ROOT / "surrogate_arena/papers/grouse/texts/types.toml"
SPLITS = 50
PRINTED_SPLITS = {"unseen": 200, "replication": 10}
"""Splits of the questions behind a printed mean of taus."""
VICUNA80 = {"gpt-4": "gpt-4", "gpt35": "gpt35", "claude": "claude", "bard": "bard"}
CROWD = {"combined": "gpt-4o-combined", "individual": "gpt-4o-individual"}

KEY = ["language", "query_id", "first", "second"]
"""A pair of answers."""
SIGNS = {"==": operator.eq, "<": operator.lt, ">": operator.gt}
Stored = Mapping[str, Any]
Figure = tuple[str, float, float, float]
"""What it is, as printed, as recomputed, and how far apart they may be."""


def verdicts_of(folder: Path) -> pd.DataFrame:
    """Read verdicts with the systems by name, and ``points`` of the first one."""
    with gzip.open(folder / "judgments.jsonl.gz", "rt", encoding="utf-8") as file:
        table = pd.DataFrame(map(json.loads, file))
    points = table["winner"].map({"a": 1, "b": -1, "tie": 0})
    is_swapped = table["system_a"] > table["system_b"]
    return table.assign(
        first=table["system_a"].where(~is_swapped, table["system_b"]),
        second=table["system_b"].where(~is_swapped, table["system_a"]),
        points=points.where(~is_swapped, -points),
    )


def majority(verdicts: pd.DataFrame, keys: Sequence[str] = KEY) -> pd.Series:
    """Return ``points`` of -1, 0 or 1 for each key: that of more than half of the verdicts."""
    points = verdicts["points"].groupby([verdicts[name] for name in keys])
    won = points.agg(lambda values: (values == 1).mean() > 0.5)
    lost = points.agg(lambda values: (values == -1).mean() > 0.5)
    return won.astype(int) - lost.astype(int)


def pairs(folder: Path, people: str, judges: dict[str, str], stored: Stored) -> Iterator[Figure]:
    """Score recorded judges by the majority of people."""
    table = verdicts_of(folder)
    truth = majority(table[table["judge"] == people]).rename("truth")
    for key, judge in judges.items():
        # Of several verdicts in one order the majority counts.
        rows = majority(table[table["judge"] == judge], [*KEY, "system_a"]).reset_index()
        rows = rows.merge(truth[truth != 0], on=KEY)
        better_on_a = (rows["truth"] == 1) == (rows["system_a"] == rows["first"])
        rows["right"] = rows["points"] == rows["truth"]
        rows["wrong"] = rows["points"] == -rows["truth"]
        by_pair = rows.groupby(KEY).agg(
            n=("right", "size"), right=("right", "sum"), wrong=("wrong", "sum")
        )
        twice = by_pair[rows.groupby(KEY).size() == 2]
        decided = rows["points"] != 0
        picks_a = (rows["points"] == 1) == (rows["system_a"] == rows["first"])
        sides = [picks_a[decided & (better_on_a == side)].mean() for side in (True, False)]
        credit = (rows["right"] + 0.5 * (rows["points"] == 0)).mean()
        found = {
            2: (twice["right"] == 2).mean(),
            3: credit,
            4: ((twice["right"] == 1) & (twice["wrong"] == 1)).mean(),
            5: np.mean(sides),
        }
        names = {2: "right in both orders", 3: "right", 4: "flips", 5: "side A"}
        for column, value in found.items():
            printed = float(stored["pairs"][key]["cells"][column].split()[0])
            yield f"{folder.name}, {judge}: {names[column]}", printed, 100 * value, 0.051


def kappas(folder: Path) -> Iterator[Figure]:
    """Compare two people's votes, and GPT-4 with one vote; each pair has the same weight."""
    table = verdicts_of(folder)
    votes = table[table["judge"] == "people"].groupby(KEY)["points"].apply(list)
    votes = votes[votes.map(len) > 1]
    judged = majority(table[table["judge"] == "gpt-4"])
    among, with_judge = np.zeros((2, 3, 3))
    for key, points in votes.items():
        if key not in judged.index:
            continue
        for one, other in combinations(points, 2):
            share = 2 / (len(points) * (len(points) - 1)) / 4
            for sign in (1, -1):
                among[1 + sign * one, 1 + sign * other] += share
                among[1 + sign * other, 1 + sign * one] += share
        for vote in points:
            for sign in (1, -1):
                with_judge[1 + sign * judged[key], 1 + sign * vote] += 0.5 / len(points)
    yield "vicuna80: kappa of two people", 0.18, kappa(among), 0.0051
    yield "vicuna80: kappa of GPT-4 and one vote", 0.17, kappa(with_judge), 0.0051


def kappa(table: np.ndarray) -> float:
    table = table / table.sum()
    chance = table.sum(axis=0) @ table.sum(axis=1)
    return float((np.trace(table) - chance) / (1 - chance))


def strengths(verdicts: pd.DataFrame, systems: list[str]) -> np.ndarray:
    """Fit Bradley-Terry with a tie as half a win and a ridge of 0.1."""
    first = pd.Categorical(verdicts["first"], systems).codes
    second = pd.Categorical(verdicts["second"], systems).codes
    won = (1 + verdicts["points"].to_numpy()) / 2

    def loss(ratings: np.ndarray) -> tuple[float, np.ndarray]:
        margin = ratings[first] - ratings[second]
        chance = 1 / (1 + np.exp(-margin))
        gradient = 0.1 * ratings
        np.add.at(gradient, first, chance - won)
        np.add.at(gradient, second, won - chance)
        value = np.logaddexp(0, margin).sum() - (won * margin).sum() + 0.05 * ratings @ ratings
        return float(value), gradient

    return np.asarray(minimize(loss, np.zeros(len(systems)), jac=True, method="L-BFGS-B").x)


def half_taus(folder: Path, judge: str | None, number: int | None) -> np.ndarray:
    """Return taus of ratings by one half of the questions, or some of it, with the other half."""
    table = verdicts_of(folder)
    if judge is not None:
        table = table[table["judge"] == judge]
    systems = sorted({*table["first"], *table["second"]})
    questions = table["query_id"].unique()
    rng = np.random.default_rng(0)
    taus = []
    for _ in range(SPLITS):
        order = rng.permutation(questions)
        half = len(order) // 2
        parts = (order[: number or half], order[half:])
        ratings = [strengths(table[table["query_id"].isin(part)], systems) for part in parts]
        taus.append(kendalltau(*ratings).statistic)
    return np.array(taus)


def agreement_of_halves(arenas: Path, stored: Stored) -> Iterator[Figure]:
    """Compare arenas in one language: ratings in several share what they have in common."""
    for key, judge in {"rakuda": None, "vicuna80": "gpt-4", "crowd-rag": "crowd-gold"}.items():
        for table, number in (("unseen", None), ("replication", 3), ("replication", 10)):
            row = stored[table][key if number is None else f"{key}:{number}"]["cells"]
            taus = half_taus(arenas / key, judge, number)
            error = np.nanstd(taus) * np.sqrt(1 / PRINTED_SPLITS[table] + 1 / SPLITS)
            name = f"{key}: {number or 'half of the'} questions with the other half"
            yield name, row[6 if number is None else 2], np.nanmean(taus), 2 * error


def majorities_of_judges(arenas: Path, stored: Stored) -> Iterator[Figure]:
    settings = {
        "vicuna80": ("vicuna80", "people", "en"),
        "mt-bench-en": ("mt-bench-ko-en", "gpt-4o-mini", "en"),
        "mt-bench-ko": ("mt-bench-ko-en", "gpt-4o-mini", "ko"),
        "crowd-rag": ("crowd-rag", "crowd-gold", "en"),
    }
    for key, (folder, reference, language) in settings.items():
        table = verdicts_of(arenas / folder)
        means = table[table["language"] == language].groupby([*KEY, "judge"])["points"].mean()
        wide = means.unstack("judge").dropna()
        wide = wide[wide[reference] != 0]
        scores = np.sign(wide.drop(columns=reference).sum(axis=1).round(9))
        right = (1 + scores * np.sign(wide[reference])).mean() / 2
        printed = float(stored["juries"][key]["cells"][3])
        yield f"{folder} {language}: the majority of judges is right", printed, 100 * right, 0.051


def constant_judges(stored: Stored) -> Iterator[Figure]:
    """Count the scores that GroUSE's types call for and that always saying the same brings."""
    types = tomllib.loads(TYPES.read_text(encoding="utf-8"))["types"]
    # Usefulness is asked of refusals alone, and what is relevant refuses nothing.
    worlds: dict[str, list[float | None]] = {"highest": [5.0, 5.0, None, 1.0], "null": [None] * 4}
    for key, scores in worlds.items():
        met = []
        for kind in types:
            conditions = kind["scores"]
            met += [meets(*pair) for pair in zip(conditions, scores, strict=True)]
            expected = [None if text == "==None" else 1.0 for text in conditions[:2]]
            met += [a == b for a, b in zip(derived(*expected), derived(*scores[:2]), strict=True)]
        printed = float(stored["constant-judges"][key]["cells"][-1])
        yield f"GroUSE, {key}: total", printed, 100 * float(np.mean(met)), 0.051


def meets(condition: str, score: float | None) -> bool:
    """Return whether a score is as a condition such as ``<5`` or ``==None`` says."""
    sign = condition.rstrip("None.0123456789")
    bound = condition.removeprefix(sign)
    if score is None or bound == "None":
        return sign == "==" and score is None and bound == "None"
    return bool(SIGNS[sign](score, float(bound)))


def derived(relevancy: float | None, completeness: float | None) -> tuple[bool | None, bool | None]:
    """Return positive acceptance, of refusals, and negative rejection, where there is no answer."""
    refuses = relevancy is None
    has_answer = completeness is not None
    return (None if not refuses else not has_answer), (None if has_answer else refuses)


def figures(arenas: Path, stored: Stored) -> Iterator[Figure]:
    """Yield all figures."""
    yield from constant_judges(stored)
    yield from pairs(arenas / "vicuna80", "people", VICUNA80, stored)
    yield from pairs(arenas / "crowd-rag", "crowd-gold", CROWD, stored)
    yield from kappas(arenas / "vicuna80")
    yield from majorities_of_judges(arenas, stored)
    yield from agreement_of_halves(arenas, stored)


def main() -> None:
    parser = argparse.ArgumentParser(description="Compute printed figures a second time.")
    parser.add_argument("--arenas", type=Path, default=ROOT / "../shared/data/arenas")
    stored = json.loads((ROOT / "benchmarks/tables.json").read_text(encoding="utf-8"))
    n_apart = 0
    for name, printed, found, tolerance in figures(parser.parse_args().arenas, stored):
        is_apart = not abs(printed - found) <= tolerance
        n_apart += is_apart
        print(
            f"{'APART' if is_apart else 'agrees'}  {printed:7.2f} {found:7.2f}  {name}", flush=True
        )
    raise SystemExit(n_apart > 0)


if __name__ == "__main__":
    main()
