"""One verdict of several: of a panel's judges on a pair, or of one judge in both orders."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt
import pandas as pd

from arena.data.errors import UsageError, checked_choice
from arena.data.schema import PANEL, QUESTION_KEY, WINNERS
from arena.judging.panel.dawid_skene import fit_dawid_skene
from arena.judging.summary import JUDGMENT_COLUMNS, PROBABILITY_COLUMNS
from arena.rating.bradley_terry import DEFAULT_RIDGE
from arena.rating.ratings import rate
from arena.statistics.rank_agreement import SAME_RATING_DECIMALS, kendall_taus

Floats = npt.NDArray[np.float64]
Names = npt.NDArray[np.object_]


Aggregate = Literal["majority", "dawid-skene"]
AGGREGATES: tuple[Aggregate, ...] = ("majority", "dawid-skene")

SPLIT = "split"
"""Flag of a tie that stands for a panel without a winner of most votes."""

_ITEM = [*QUESTION_KEY, "system_a", "system_b"]
_TIE = WINNERS.index("tie")
_NAMES = np.array(WINNERS, dtype=object)


@dataclass(frozen=True)
class Panel:
    """What a panel of judges says.

    Attributes:
        judgments: An arena's ``judgments`` by ``panel(majority)`` or ``panel(dawid-skene)``, with
            its probabilities: shares of votes, or Dawid and Skene's.
        too_few: Items left out, for fewer than half of the judges gave a verdict.
        split: Items without a verdict of most votes, which are ties.
        judges: Columns ``language, judge, items, tau`` (Kendall tau-b of the systems as this
            judge ranks them, with the panel of the others) and, by Dawid and Skene, ``accuracy``
            (estimated share of its verdicts that are right).
    """

    judgments: pd.DataFrame
    too_few: int
    split: int
    judges: pd.DataFrame


def panel_name(aggregate: Aggregate) -> str:
    """Return the name under which a panel stands in the ``judge`` column."""
    return f"{PANEL}{aggregate})"


def aggregate_votes(
    judgments: pd.DataFrame, judges: Sequence[str], aggregate: Aggregate = "majority"
) -> Panel:
    """Make one verdict of several judges' verdicts on the same pair in the same order.

    An item needs verdicts of half of the judges at least. By majority, the verdict with the most
    votes wins, and a panel without one is tied. By Dawid and Skene, each language by itself, the
    likeliest verdict wins, given how each judge is estimated to err.

    Args:
        judgments: Columns ``query_id, language, system_a, system_b, winner, judge``; of several
            verdicts of a judge on the same item the last one counts.
        judges: The panel, two at least.
        aggregate: ``majority`` or ``dawid-skene``.

    Raises:
        UsageError: If the rule is unknown, there are fewer than two judges, or no item has
            enough verdicts.
    """
    kept, too_few = _enough_votes(judgments, judges)
    verdicts, accuracy = _verdicts(kept, aggregate)
    return Panel(
        judgments=verdicts,
        too_few=too_few,
        split=int((verdicts["flags"] == SPLIT).sum()),
        judges=_with_accuracy(_taus(kept, aggregate), accuracy),
    )


def majority_verdicts(judgments: pd.DataFrame, judges: Sequence[str]) -> pd.DataFrame:
    """Return the ``judgments`` alone of ``aggregate_votes`` by majority, which raises the same."""
    return _verdicts(_enough_votes(judgments, judges)[0], "majority")[0]


def _enough_votes(judgments: pd.DataFrame, judges: Sequence[str]) -> tuple[pd.DataFrame, int]:
    """Return the votes on items that half of the judges voted on, and how many others there are."""
    members = list(dict.fromkeys(judges))
    if len(members) < 2:
        raise UsageError("a panel needs two judges at least")
    votes = _votes(judgments, members)
    kept = votes[votes.notna().sum(axis=1) >= len(members) / 2]
    if kept.empty:
        raise UsageError("no pair has verdicts of half of the panel's judges")
    return kept, len(votes) - len(kept)


def _verdicts(
    votes: pd.DataFrame, aggregate: Aggregate
) -> tuple[pd.DataFrame, pd.DataFrame | None]:
    """Return a panel's verdicts and, by Dawid and Skene, how accurate its judges are."""
    checked_choice(aggregate, AGGREGATES, "aggregate")
    parts = [_aggregated(part, aggregate) for _, part in votes.groupby(level="language", sort=True)]
    table = pd.concat([part for part, _ in parts])
    accuracy = pd.concat([of_judges for _, of_judges in parts]) if parts[0][1] is not None else None
    return _as_judgments(table, list(votes.columns), aggregate), accuracy


def _votes(judgments: pd.DataFrame, members: list[str]) -> pd.DataFrame:
    """Return the judges' verdicts as classes 0, 1, 2, NaN where there is none: (items, judges)."""
    cast = judgments[judgments["judge"].isin(members)]
    last = cast.drop_duplicates([*_ITEM, "judge"], keep="last")
    coded = last.assign(vote=pd.Index(WINNERS).get_indexer(pd.Index(last["winner"].astype(object))))
    return coded.pivot(index=_ITEM, columns="judge", values="vote").reindex(columns=members)


def _one_hot(votes: pd.DataFrame) -> Floats:
    """Count votes, shape (items, judges, classes)."""
    return np.asarray(votes.to_numpy()[..., None] == np.arange(len(WINNERS)), dtype=np.float64)


def _aggregated(
    votes: pd.DataFrame, aggregate: Aggregate
) -> tuple[pd.DataFrame, pd.DataFrame | None]:
    """Aggregate one language: class, probability and whether split; and the judges' accuracy."""
    counts = _one_hot(votes)
    accuracy = None
    if aggregate == "majority":
        classes = counts.sum(axis=1) / counts.sum(axis=(1, 2))[:, None]
    else:
        fit = fit_dawid_skene(counts)
        classes = fit.classes
        right = np.einsum("k,jkk->j", fit.shares, fit.confusion)
        language = votes.index.get_level_values("language")[0]
        accuracy = pd.DataFrame(
            {"language": language, "judge": list(votes.columns), "accuracy": right}
        )
    winner, probability, is_split = _likeliest(classes)
    rows = pd.DataFrame(
        {
            "class": winner,
            "probability": probability,
            "probability_a": classes[:, WINNERS.index("a")],
            "probability_b": classes[:, WINNERS.index("b")],
            "is_split": is_split,
        },
        index=votes.index,
    )
    return rows, accuracy


def _as_judgments(table: pd.DataFrame, members: list[str], aggregate: Aggregate) -> pd.DataFrame:
    rows = table.reset_index()
    judgments = rows.assign(
        winner=_NAMES[rows["class"].to_numpy()],
        judge=panel_name(aggregate),
        flags=np.where(rows["is_split"], SPLIT, ""),
        prompt=f"panel of {', '.join(sorted(members))}",
    )[JUDGMENT_COLUMNS].round(dict.fromkeys(PROBABILITY_COLUMNS, 6))
    return judgments.astype({"winner": "str", "judge": "str", "flags": "str", "prompt": "str"})


def _taus(votes: pd.DataFrame, aggregate: Aggregate) -> pd.DataFrame:
    rows, members = [], list(votes.columns)
    for language, part in votes.groupby(level="language", sort=True):
        for judge in members:
            others = [name for name in members if name != judge]
            both = part[part[judge].notna() & part[others].notna().any(axis=1)]
            tau = _tau_with_others(both, judge, others, aggregate)
            rows.append((language, judge, int(part[judge].notna().sum()), tau))
    return pd.DataFrame(rows, columns=["language", "judge", "items", "tau"])


def _tau_with_others(
    votes: pd.DataFrame, judge: str, others: list[str], aggregate: Aggregate
) -> float:
    """Agreement on the items that both judged; NaN where either ranks no system above another."""
    if votes.empty:
        return float("nan")
    rule: Aggregate = aggregate if len(others) > 1 else "majority"
    theirs, _ = _aggregated(votes[others], rule)
    reference = _ratings(votes.index, theirs["class"].to_numpy())
    own = _ratings(votes.index, votes[judge].to_numpy().astype(int))
    return float(kendall_taus(own[None], reference[None], SAME_RATING_DECIMALS)[0, 0])


def _ratings(items: pd.Index, classes: npt.NDArray[np.int64]) -> Floats:
    """Rate the systems of some items by the verdicts given on them, in the order of names."""
    judgments = items.to_frame(index=False).assign(winner=_NAMES[classes])
    table = rate(judgments, ridge=DEFAULT_RIDGE, rounds=0).table
    return np.asarray(table.sort_values("system")["rating"], dtype=np.float64)


def _with_accuracy(taus: pd.DataFrame, accuracy: pd.DataFrame | None) -> pd.DataFrame:
    if accuracy is None:
        return taus
    return taus.merge(accuracy, on=["language", "judge"], how="left")


FLIPPED = "flipped"
"""Flag of a pair whose two verdicts name different systems."""

_PAIR = [*QUESTION_KEY, "first", "second", "judge"]


def merged_orders(judgments: pd.DataFrame) -> pd.DataFrame:
    """Make one verdict of each pair that a judge has judged in both orders.

    Where both verdicts have probabilities, these are averaged over the orders, and the likeliest
    verdict wins: what a judge gives to a side, whatever stands there, cancels out, and even a
    judge that always names side A tells systems apart. Elsewhere a system wins if both verdicts
    name it, and anything else is a tie.

    Args:
        judgments: As ``judge_arena`` returns them; of several verdicts of a judge on the same
            pair in the same order the last one counts.

    Returns:
        Judgments with the judge ``NAME (both orders)``, side A the first system by name; pairs
        judged in one order are left out.
    """
    forward = judgments[judgments["system_a"] < judgments["system_b"]]
    backward = judgments[judgments["system_a"] > judgments["system_b"]]
    both = _keyed(forward, "system_a", "system_b").merge(
        _keyed(backward, "system_b", "system_a"), on=_PAIR, suffixes=("", "_back")
    )
    one = both["probability_a"] + both["probability_b_back"]
    other = both["probability_b"] + both["probability_a_back"]
    shares = np.stack([one / 2, other / 2, 1 - (one + other) / 2], axis=1)
    winners, flips = _by_agreement(both)
    known = np.isfinite(shares).all(axis=1)
    classes, best, _ = _likeliest(shares[known])
    winners[known] = _NAMES[classes]
    probability = np.full(len(both), np.nan)
    probability[known] = best
    table = both.assign(
        system_a=both["first"],
        system_b=both["second"],
        winner=winners,
        judge=both["judge"] + " (both orders)",
        probability=probability,
        probability_a=shares[:, 0],
        probability_b=shares[:, 1],
        flags=np.where(flips, FLIPPED, ""),
    )[JUDGMENT_COLUMNS]
    return table.round(dict.fromkeys(PROBABILITY_COLUMNS, 6)).astype(
        {"winner": "str", "judge": "str", "flags": "str"}
    )


def _keyed(table: pd.DataFrame, first: str, second: str) -> pd.DataFrame:
    keyed = table.assign(first=table[first], second=table[second])
    return keyed.drop_duplicates(_PAIR, keep="last")


def _by_agreement(both: pd.DataFrame) -> tuple[Names, npt.NDArray[np.bool_]]:
    """Return the verdicts that both orders share, ties elsewhere; and which pairs flip."""
    turned = both["winner_back"].map({"a": "b", "b": "a", "tie": "tie"}).to_numpy(dtype=object)
    winner = both["winner"].to_numpy(dtype=object)
    flips = (winner != turned) & (winner != "tie") & (turned != "tie")
    return np.where(winner == turned, winner, "tie"), flips


def _likeliest(
    probabilities: Floats,
) -> tuple[npt.NDArray[np.int64], Floats, npt.NDArray[np.bool_]]:
    """Return each item's likeliest class, its probability, and whether several are: then a tie."""
    best = probabilities.max(axis=1, initial=0.0)
    is_split = np.isclose(probabilities, best[:, None], rtol=0, atol=1e-9).sum(axis=1) > 1
    winner = np.where(is_split, _TIE, probabilities.argmax(axis=1))
    return winner, probabilities[np.arange(len(winner)), winner], is_split
