"""Part of ``recomputed.py``: judges on pairs, soft pairwise accuracy, kappas, juries, GroUSE."""

from __future__ import annotations

import operator
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
from recomputed_verdicts import (
    KEY,
    PARTS,
    QUESTION,
    Figure,
    Stored,
    figures_of,
    majority,
    printed_numbers,
    simulated,
    table_of,
    verdicts_of,
)
from scipy.special import expit, logit
from scipy.stats import norm, t

TYPES = Path(__file__).parents[1] / "surrogate_arena/papers/grouse/texts/types.toml"
VICUNA80 = {"gpt-4": "gpt-4", "gpt35": "gpt35", "claude": "claude", "bard": "bard"}
CROWD = {"combined": "gpt-4o-combined", "individual": "gpt-4o-individual"}
JURIES = {
    "vicuna80": ("vicuna80", "people", "en"),
    "mt-bench-en": ("mt-bench-ko-en", "gpt-4o-mini", "en"),
    "mt-bench-ko": ("mt-bench-ko-en", "gpt-4o-mini", "ko"),
    "crowd-rag": ("crowd-rag", "crowd-gold", "en"),
}
BLOCKS = 20
SIGNS = {"==": operator.eq, "<": operator.lt, ">": operator.gt}
SHARES: Mapping[int, tuple[str, Sequence[str]]] = {
    2: ("right in both orders", ["right_twice/twice"]),
    3: ("right", ["credit/rows"]),
    4: ("flips", ["flipped/twice"]),
    5: ("side A", ["a_if_a/if_a", "a_if_b/if_b"]),
    6: ("longer answer", ["long_if_long/if_long", "long_if_short/if_short"]),
}
"""Column to its name, and the shares whose mean it is, as counts."""
SOFT, CHANCE = 7, 8


def pairs(folder: Path, people: str, judges: dict[str, str], stored: Stored) -> Iterator[Figure]:
    """Score recorded judges by the majority of people."""
    table = verdicts_of(folder)
    votes = table[table["judge"] == people]
    truth = majority(votes).rename("truth")
    lengths = table_of(folder / "answers.jsonl.gz").set_index([*QUESTION, "system"])["answer"]
    lengths = lengths[~lengths.index.duplicated()].str.strip().str.len()
    for key, judge in judges.items():
        # Of several verdicts in one order the majority counts.
        asked = table[table["judge"] == judge].merge(truth[truth != 0], on=KEY)
        verdicts = majority(asked, [*KEY, "system_a", "truth"]).rename("points").reset_index()
        counts = counts_by_question(verdicts, lengths)
        cells = stored["pairs"][key]["cells"]
        for column, (name, shares) in SHARES.items():
            value = share(counts, shares)
            low_high, errors = simulated(lambda rng: bootstrap_interval(counts, shares, rng))  # noqa: B023
            label = f"{folder.name}, {judge}: {name}"
            yield from figures_of(
                label, cells[column], 100 * np.array([value, *low_high]), [0, *(100 * errors)]
            )
        yield from soft_accuracy(f"{folder.name}, {judge}", verdicts, votes, cells)


def counts_by_question(rows: pd.DataFrame, lengths: pd.Series) -> pd.DataFrame:
    """Count what the shares are of."""
    is_first = rows["system_a"] == rows["first"]
    better_a = (rows["truth"] == 1) == is_first
    decided = rows["points"] != 0
    picks_a = decided & ((rows["points"] == 1) == is_first)
    sizes = [
        lengths.reindex(pd.MultiIndex.from_frame(rows[[*QUESTION, side]])).to_numpy()
        for side in ("first", "second")
    ]
    unlike = decided & (sizes[0] != sizes[1])
    better_long = (rows["truth"] == 1) == (sizes[0] > sizes[1])
    picks_long = unlike & ((rows["points"] == 1) == (sizes[0] > sizes[1]))
    right = rows["points"] == rows["truth"]
    wrong = rows["points"] == -rows["truth"]
    marks = rows[KEY].assign(rows=1, right=right, wrong=wrong, credit=right + 0.5 * ~decided)
    marks = marks.assign(
        if_a=decided & better_a,
        a_if_a=picks_a & better_a,
        if_b=decided & ~better_a,
        a_if_b=picks_a & ~better_a,
        if_long=unlike & better_long,
        long_if_long=picks_long & better_long,
        if_short=unlike & ~better_long,
        long_if_short=picks_long & ~better_long,
    )
    of_pairs = marks.groupby(KEY).sum()
    twice = of_pairs["rows"] == 2
    of_pairs = of_pairs.assign(
        twice=twice,
        right_twice=twice & (of_pairs["right"] == 2),
        flipped=twice & (of_pairs["right"] == 1) & (of_pairs["wrong"] == 1),
    )
    return of_pairs.groupby(QUESTION).sum().astype(float)


def share(counts: pd.DataFrame, shares: Sequence[str]) -> float:
    totals = counts.sum()
    return float(
        np.mean([totals[part.split("/")[0]] / totals[part.split("/")[1]] for part in shares])
    )


def bootstrap_interval(
    counts: pd.DataFrame, shares: Sequence[str], rng: np.random.Generator
) -> np.ndarray:
    """Return Student's interval in logits, by a bootstrap over questions.

    Degrees of freedom are Satterthwaite's, of what questions add to the variance.
    """
    columns = {name: counts[name].to_numpy() for part in shares for name in part.split("/")}
    n_questions = len(counts)
    weights = rng.multinomial(n_questions, np.full(n_questions, 1 / n_questions), size=1000)
    drawn, once, influence = [], [], np.zeros(n_questions)
    enters = np.zeros(n_questions, bool)
    for part in shares:
        above, below = (columns[name] for name in part.split("/"))
        drawn.append((weights @ above) / (weights @ below))
        once.append(above.sum() / below.sum())
        influence += (above - once[-1] * below) / below.sum()
        enters |= below > 0
    error = float(np.std(np.mean(drawn, axis=0), ddof=1))
    squares = influence[enters] ** 2
    degrees = min(squares.sum() ** 2 / (squares**2).sum(), enters.sum() - 1)
    return student_in_logits(float(np.mean(once)), error, degrees)


def student_in_logits(value: float, error: float, degrees: float) -> np.ndarray:
    half_width = t.ppf(0.975, degrees) * error / (value * (1 - value))
    return np.asarray(expit(logit(value) + half_width * np.array([-1, 1])))


def soft_accuracy(
    name: str, verdicts: pd.DataFrame, votes: pd.DataFrame, cells: Sequence[str]
) -> Iterator[Figure]:
    """Compare p-values of pairs of systems, by the judge and by votes, and by verdicts turned."""
    means = [(1 + rows.groupby(KEY)["points"].mean()) / 2 for rows in (verdicts, votes)]
    items = pd.concat(means, axis=1, join="inner", keys=["judge", "people"]).reset_index()
    by_judge = items["judge"].to_numpy()
    differences_of = difference_matrices(items)
    people = differences_of(items["people"].to_numpy())
    n_questions = len(people)
    once = np.ones((1, n_questions))
    [value] = agreement(differences_of(by_judge), people, once)

    def interval(rng: np.random.Generator) -> np.ndarray:
        even = np.full(n_questions, 1 / n_questions)
        drawn = rng.multinomial(n_questions, even, size=1000)
        error = np.std(agreement(differences_of(by_judge), people, drawn), ddof=1)
        return student_in_logits(value, error, n_questions - 1)

    def chance(rng: np.random.Generator) -> np.ndarray:
        turned = []
        for _ in range(200):
            points = np.where(rng.random(len(items)) < 0.5, by_judge, 1 - by_judge)
            turned += [*agreement(differences_of(points), people, once)]
        return np.array([np.mean(turned), *np.percentile(turned, [2.5, 97.5])])

    found, errors = simulated(interval)
    numbers = 100 * np.array([value, *found])
    yield from figures_of(f"{name}: soft pairwise", cells[SOFT], numbers, [0, *(100 * errors)])
    found, errors = simulated(chance)
    yield from figures_of(f"{name}: by chance", cells[CHANCE], 100 * found, 100 * errors)


def difference_matrices(items: pd.DataFrame) -> Callable[[np.ndarray], np.ndarray]:
    """Return what turns points of pairs into systems' differences on questions, (Q, P).

    A system's score on a question is its mean over the pairs with it; NaN if there is none.
    """
    questions = items.groupby(QUESTION).ngroup().to_numpy()
    systems = sorted({*items["first"], *items["second"]})
    shape = (questions.max() + 1, len(systems), len(items))
    signs = np.zeros(shape)
    places = np.arange(len(items))
    for side, sign in (("first", 1), ("second", -1)):
        signs[questions, pd.Categorical(items[side], systems).codes, places] = sign
    counts = np.abs(signs).sum(axis=2)
    one, other = np.triu_indices(len(systems), 1)

    def differences(points: np.ndarray) -> np.ndarray:
        with np.errstate(invalid="ignore"):
            scores = signs @ (points - 0.5) / counts
        return np.asarray(scores[:, one] - scores[:, other])

    return differences


def agreement(judge: np.ndarray, people: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return the mean over pairs of systems of 1 less the difference of their p-values, (B,)."""
    is_compared = weights @ np.isfinite(judge) > 0
    p_values = []
    for differences in (judge, people):
        known = np.nan_to_num(differences)
        spread = np.sqrt(weights @ known**2)
        p_values.append(norm.cdf(weights @ known / np.where(spread > 0, spread, 1)))
    agreed = np.where(is_compared, 1 - np.abs(p_values[0] - p_values[1]), np.nan)
    return np.asarray(np.nanmean(agreed, axis=1))


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
            weight = 2 / (len(points) * (len(points) - 1)) / 4
            for sign in (1, -1):
                among[1 + sign * one, 1 + sign * other] += weight
                among[1 + sign * other, 1 + sign * one] += weight
        for vote in points:
            for sign in (1, -1):
                with_judge[1 + sign * judged[key], 1 + sign * vote] += 0.5 / len(points)
    yield Figure("vicuna80: kappa of two people", 0.18, kappa(among))
    yield Figure("vicuna80: kappa of GPT-4 and one vote", 0.17, kappa(with_judge))


def kappa(table: np.ndarray) -> float:
    table = table / table.sum()
    chance = table.sum(axis=0) @ table.sum(axis=1)
    return float((np.trace(table) - chance) / (1 - chance))


def juries(arenas: Path, stored: Stored) -> Iterator[Figure]:
    """Judge each block of questions by weights of the others; blocks are other ones."""
    for key, (folder, reference, language) in JURIES.items():
        table = verdicts_of(arenas / folder)
        means = table[table["language"] == language].groupby([*KEY, "judge"])["points"].mean()
        wide = means.unstack("judge").dropna()
        judges = wide.drop(columns=reference).to_numpy()
        truth = wide[reference].to_numpy()
        questions = wide.groupby(QUESTION).ngroup().to_numpy()
        found, errors = simulated(lambda rng: of_jury(judges, truth, questions, rng))  # noqa: B023
        cells = stored["juries"][key]["cells"]
        numbers = [number for cell in cells[2:] for number in printed_numbers(cell)]
        names = ["best judge", "majority", "jury"]
        for name in ("best judge", "majority"):
            names += [f"gain on the {name}{part}" for part in PARTS]
        for name, (printed, digits), value, error in zip(
            names, numbers, found, errors, strict=True
        ):
            yield Figure(f"{folder} {language}: {name}", printed, 100 * value, digits, 100 * error)


def of_jury(
    judges: np.ndarray, truth: np.ndarray, questions: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    """Return shares right of the best judge, the majority and the jury; its gains, intervals."""
    block_of = rng.permutation(questions.max() + 1)[questions] % BLOCKS
    blocks = [Block(judges[block_of == b], truth[block_of == b]) for b in range(BLOCKS)]
    right = shares_right(blocks)
    without = np.array([shares_right([*blocks[:b], *blocks[b + 1 :]]) for b in range(BLOCKS)])
    found = [*right]
    for index in (0, 1):
        error = np.sqrt((BLOCKS - 1) * np.var(without[:, 2] - without[:, index]))
        half_width = t.ppf(0.975, BLOCKS - 1) * error
        gain = right[2] - right[index]
        found += [gain, gain - half_width, gain + half_width]
    return np.array(found)


class Block:
    """Verdicts on some questions, with sums that weights and shares are of."""

    def __init__(self, judges: np.ndarray, truth: np.ndarray) -> None:
        self.judges = judges
        self.truth = truth
        self.n_decided = (truth != 0).sum()
        self.products = judges.T @ judges
        self.targets = judges.T @ truth
        self.right = self.points(judges)

    def points(self, votes: np.ndarray) -> np.ndarray:
        """Count decided pairs that columns of votes decide alike, ties half."""
        signs = np.sign(votes.round(9)).T @ np.sign(self.truth)
        return np.asarray((self.n_decided + signs) / 2)


def shares_right(blocks: Sequence[Block]) -> np.ndarray:
    """Return the shares right of the best judge, the majority and the jury."""
    products = np.sum([block.products for block in blocks], axis=0)
    targets = np.sum([block.targets for block in blocks], axis=0)
    right = np.sum([block.right for block in blocks], axis=0)
    away = np.eye(len(right)) - 1 / len(right)
    points = np.zeros(3)
    for block in blocks:
        # |y - Xw|² + 50 |w - mean w|² on the other blocks.
        weights = np.linalg.solve(products - block.products + 50 * away, targets - block.targets)
        best = np.argmax(right - block.right)
        votes = (block.judges[:, best], block.judges.sum(axis=1), block.judges @ weights)
        points += block.points(np.column_stack(votes))
    return np.asarray(points / sum(block.n_decided for block in blocks))


def constant_judges(stored: Stored) -> Iterator[Figure]:
    """Count the scores that GroUSE's types call for and that always saying the same brings."""
    types = tomllib.loads(TYPES.read_text(encoding="utf-8"))["types"]
    # Usefulness is asked of refusals alone, and what is relevant refuses nothing.
    worlds: dict[str, list[float | None]] = {"highest": [5.0, 5.0, None, 1.0], "null": [None] * 4}
    for key, given in worlds.items():
        met = []
        for kind in types:
            conditions = kind["scores"]
            row = [meets(*pair) for pair in zip(conditions, given, strict=True)]
            expected = [None if text == "==None" else 1.0 for text in conditions[:2]]
            row += [a == b for a, b in zip(derived(*expected), derived(*given[:2]), strict=True)]
            met.append(row)
        shares = 100 * np.mean(met, axis=0)
        names = ["relevancy", "complete", "useful", "faithful", "accepts", "rejects", "total"]
        cells = stored["constant-judges"][key]["cells"][1:]
        for name, cell, found in zip(names, cells, [*shares, shares.mean()], strict=True):
            yield Figure(f"GroUSE, {key}: {name}", float(cell), found, 1)


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
