"""Do ratings gain from the judges' biases to a side and to length?

    python benchmarks/side_and_length.py [ARENAS] [--draws 8]

Sides: yes. Over 21 judges of five arenas tau changes by +.001 ± .001 where both orders were asked,
+.004 ± .006 in random orders (+.11 for the most one-sided judge), and +.059 ± .025 where sides were
dealt by name, where intervals hold in 96% of cases instead of 87%. Length: not in the rating.
Coefficients agree across halves of the questions (they differ by 1.0 of their errors), but people
like length, too (2.0 logits on vicuna80, GPT-4 2.1), and at equal length six judges agree less with
people's ratings (tau -.17 ± .06), and no more with people's at equal length (.00 ± .06 over raw).
Style, too: -.22 ± .09.

*Sides*: ratings by few questions, with and without the bias to a side, are compared with the plain
ratings by the verdicts on the other half of the questions. Verdicts are in one random order each,
in the order of the systems' names, or in both. An interval holds if the two ratings differ by at
most 1.96 standard errors of their difference.

*Length*: do the coefficients of two halves of the questions agree, and do ratings at equal length
agree more with people's, raw or at equal length, than raw ratings do?
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from arena import read_arena
from arena.data.judges import PEOPLE, is_person
from arena.data.types import Floats
from arena.rating.battles import Battles
from arena.rating.biases import LENGTH
from arena.rating.posterior import BattlePosterior, battle_posterior
from arena.rating.soft_verdicts import calibrated_judgments
from arena.statistics.agreement import kendall_tau
from arena.statistics.bootstrap import generator
from arena.statistics.significance import NORMAL_95
from surrogate_arena.commands.fitting import TRAITS_OF
from surrogate_arena.importers.answer_traits import with_traits

ARENAS = Path("../shared/data/arenas")
NAMES = ("vicuna80", "mt-bench-ko-en", "crowd-rag", "rakuda", "faithjudge", "alpacaeval")
QUESTIONS = (4, 8, 16)
PLANS = ("random order", "order of names", "both orders")
GROUP = ["arena", "language", "judge"]


def judged_groups(folder: Path) -> Iterator[tuple[tuple[str, str, str], pd.DataFrame]]:
    """Yield the whole verdicts of each judge and language, with the traits of style."""
    for name in NAMES:
        arena = read_arena(folder / name)
        judgments = calibrated_judgments(arena.judgments, hard=True)
        judgments = with_traits(judgments, arena.answers, TRAITS_OF["style"])
        judges = judgments["judge"].map(lambda judge: PEOPLE if is_person(judge) else judge)
        for (language, judge), rows in judgments.groupby(["language", judges]):
            yield (name, str(language), str(judge)), rows.reset_index(drop=True)


def without_traits(rows: pd.DataFrame) -> pd.DataFrame:
    return rows.loc[:, ~rows.columns.str.startswith("trait_")]


def rated(rows: pd.DataFrame, systems: list[str], *, with_side: bool) -> BattlePosterior:
    battles = Battles.from_judgments(without_traits(rows), systems)
    if not with_side:
        # Pairs without an order are the plain model.
        battles.__dict__["items_by_side"] = battles.items
    return battle_posterior(battles)


def planned(rows: pd.DataFrame, plan: str, rng: np.random.Generator) -> pd.DataFrame:
    """Keep one order of each pair on a question, or both."""
    if plan == "both orders":
        return rows
    if plan == "order of names":
        return rows[rows["system_a"] < rows["system_b"]]
    sides = np.sort(rows[["system_a", "system_b"]].astype(str).to_numpy(), axis=1)
    keyed = rows.assign(first=sides[:, 0], second=sides[:, 1])
    shuffled = keyed.iloc[rng.permutation(len(keyed))]
    return shuffled.drop_duplicates(["query_id", "first", "second"])


def holding_share(near: BattlePosterior, far: BattlePosterior) -> float:
    errors = np.hypot(near.standard_errors, far.standard_errors)
    return float((np.abs(near.ratings - far.ratings) <= NORMAL_95 * errors).mean())


def side_gains(
    key: tuple[str, str, str], rows: pd.DataFrame, draws: int
) -> list[dict[str, object]]:
    """Compare ratings with and without sides on few questions."""
    systems = sorted({*rows["system_a"], *rows["system_b"]})
    questions = np.array(sorted(rows["query_id"].unique()))
    results: list[dict[str, object]] = []
    for draw in range(draws):
        rng = generator(draw, "sides", *key)
        order = rng.permutation(questions)
        far = rated(rows[rows["query_id"].isin(order[len(order) // 2 :])], systems, with_side=False)
        for n_questions in QUESTIONS:
            if n_questions > len(questions) // 2:
                continue
            on_questions = rows[rows["query_id"].isin(order[:n_questions])]
            for plan in PLANS:
                judged = planned(on_questions, plan, rng)
                if judged.empty:
                    continue
                result: dict[str, object] = dict(zip(GROUP, key, strict=True), plan=plan)
                for name, with_side in (("plain", False), ("side", True)):
                    near = rated(judged, systems, with_side=with_side)
                    result[f"tau {name}"] = kendall_tau(near.ratings, far.ratings)
                    result[f"holds {name}"] = holding_share(near, far)
                results.append(result)
    return results


def coefficient_of(posterior: BattlePosterior, trait: str) -> tuple[float, float]:
    (bias,) = (bias for bias in posterior.biases if bias.trait == trait)
    return bias.coefficient, bias.standard_error


def at_equal(rows: pd.DataFrame, equal: str) -> BattlePosterior:
    """Rate at equal length or style."""
    traits = [f"trait_{name}" for name in TRAITS_OF[equal]]
    return posterior_of(without_traits(rows).join(rows[traits]))


def posterior_of(rows: pd.DataFrame) -> BattlePosterior:
    """Rate by verdicts as if one judge had given them."""
    return battle_posterior(Battles.from_judgments(rows.assign(judge="judge")))


def lengths_of(key: tuple[str, str, str], rows: pd.DataFrame) -> dict[str, object]:
    """Rate with and without length, and learn the coefficient of two halves of the questions."""
    raw = posterior_of(without_traits(rows))
    equal = at_equal(rows, "length")
    style = at_equal(rows, "style")
    coefficient, error = coefficient_of(equal, LENGTH)
    order = generator(0, "halves", *key).permutation(sorted(rows["query_id"].unique()))
    is_first = rows["query_id"].isin(order[: len(order) // 2])
    first, first_error = coefficient_of(at_equal(rows[is_first], "length"), LENGTH)
    second, second_error = coefficient_of(at_equal(rows[~is_first], "length"), LENGTH)
    moves = np.abs(equal.ratings - raw.ratings)
    return {
        **dict(zip(GROUP, key, strict=True)),
        "length": coefficient,
        "error": error,
        "halves differ, in errors": (first - second) / np.hypot(first_error, second_error),
        "largest move": moves.max(),
        "moved by > error": int((moves > raw.standard_errors).sum()),
        "raw": pd.Series(raw.ratings, raw.systems),
        "equal": pd.Series(equal.ratings, equal.systems),
        "style": pd.Series(style.ratings, style.systems),
    }


def agreement(ratings: pd.Series, expected: pd.Series) -> float:
    systems = ratings.index.intersection(expected.index)
    return kendall_tau(ratings[systems].to_numpy(float), expected[systems].to_numpy(float))


def people_gains(lengths: pd.DataFrame) -> pd.DataFrame:
    """Compare each judge's ratings with people's."""
    rows = []
    for (arena, _), part in lengths.groupby(["arena", "language"]):
        people = part[part["judge"] == PEOPLE]
        if people.empty:
            continue
        raw = people["raw"].iloc[0]
        equal = people["equal"].iloc[0]
        for judge in part[part["judge"] != PEOPLE].to_dict("records"):
            rows.append(
                {
                    "arena": arena,
                    "judge": judge["judge"],
                    "raw with people": agreement(judge["raw"], raw),
                    "equal with people": agreement(judge["equal"], raw),
                    "style with people": agreement(judge["style"], raw),
                    "equal with people at equal length": agreement(judge["equal"], equal),
                }
            )
    return pd.DataFrame(rows)


def with_error(differences: pd.Series) -> str:
    """Show a mean and its standard error."""
    values: Floats = differences.to_numpy(np.float64)
    return f"{values.mean():+.4f} ± {values.std(ddof=1) / np.sqrt(len(values)):.4f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("arenas", type=Path, nargs="?", default=ARENAS)
    parser.add_argument("--draws", type=int, default=8)
    options = parser.parse_args()
    sides: list[dict[str, object]] = []
    lengths = []
    for key, rows in judged_groups(options.arenas):
        lengths.append(lengths_of(key, rows))
        # Of a star about one system, few questions in one order say nothing.
        if key[0] != "alpacaeval":
            sides.extend(side_gains(key, rows, 2 if len(rows) > 20_000 else options.draws))
    means = pd.DataFrame(sides).groupby([*GROUP, "plan"]).mean().reset_index()
    print(means.round(3).to_string(index=False))
    for plan, part in means.groupby("plan"):
        gain = with_error(part["tau side"] - part["tau plain"])
        holds = part[["holds plain", "holds side"]].mean().round(3).to_dict()
        print(f"{plan}: tau {gain}; intervals hold {holds}")
    table = pd.DataFrame(lengths)
    print(table.drop(columns=["raw", "equal", "style"]).round(2).to_string(index=False))
    gains = people_gains(table)
    print(gains.round(2).to_string(index=False))
    for name in ("equal with people", "style with people", "equal with people at equal length"):
        print(f"{name}, over raw: {with_error(gains[name] - gains['raw with people'])}")


if __name__ == "__main__":
    main()
