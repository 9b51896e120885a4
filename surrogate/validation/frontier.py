"""What a surrogate says of systems that are better than all it has seen: that they are, at best."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd

from arena.data.errors import UsageError
from arena.data.seeds import generator
from arena.statistics.rank_agreement import kendall_tau
from surrogate.board.intervals import conformal_intervals
from surrogate.board.summary import RatingInterval
from surrogate.learning.cross_fitting import (
    FEWEST_SYSTEMS_TO_FOLD,
    Repeats,
    leave_systems_out,
    system_folds,
    train_and_rate,
)
from surrogate.learning.languages import LanguageData, judged_questions
from surrogate.learning.surrogate import Surrogate
from surrogate.validation.scores import MACRO

Floats = npt.NDArray[np.float64]

BEST = 0.5
"""Share of the systems, the best ones, that are held out as the frontier."""
KEPT = 0.8
"""Share of the others that a repeat learns from."""
FRONTIER, ORDINARY = "frontier", "ordinary"


def held_out(languages: Sequence[LanguageData], repeats: Repeats) -> list[tuple[str, list[str]]]:
    """Choose what is held out in each training: the better half, or every fifth in turn."""
    ranks = pd.concat([pd.Series(data.truth, data.systems).rank() for data in languages], axis=1)
    ordered = list(ranks.mean(axis=1).dropna().sort_values(kind="stable").index)
    worse = ordered[: len(ordered) - round(BEST * len(ordered))]
    if len(worse) < FEWEST_SYSTEMS_TO_FOLD:
        raise UsageError(
            f"{len(ordered)} judged systems are too few: at least {2 * FEWEST_SYSTEMS_TO_FOLD - 1} "
            "are needed to hold the better half out"
        )
    size = max(round(KEPT * len(worse)), FEWEST_SYSTEMS_TO_FOLD)
    chosen = []
    for repeat in range(repeats.times):
        drawn = generator(repeats.seed, "frontier", str(repeat)).permutation(len(worse))[size:]
        chosen.append((FRONTIER, ordered[len(worse) :] + [worse[place] for place in drawn]))
    return chosen + [(ORDINARY, fold) for _, _, fold in system_folds(languages, repeats)]


def rate_held(
    languages: Sequence[LanguageData],
    surrogate: Surrogate,
    own: Repeats,
    kind: str,
    held: Sequence[str],
) -> pd.DataFrame:
    """Rate held-out systems, as new ones are rated.

    Returns:
        Columns ``kind, language, system, rating, truth, is_better, is_flagged, is_inside``.
    """
    parts = [data.without(held) for data in languages]
    rows = [data.rows([name for name in data.systems if name in held]) for data in languages]
    outcomes = leave_systems_out(parts, own.reseeded(surrogate, kind), own)
    intervals = conformal_intervals(outcomes)
    table, _ = train_and_rate(
        own.reseeded(surrogate, kind, "all"), parts, pd.concat(rows), judged_questions(languages)
    )
    done = []
    for data, part in zip(languages, parts, strict=True):
        rated = table[table["language"] == data.language]
        truth = pd.Series(data.truth - data.origin_of(part), data.systems)
        done.append(_compared(rated.assign(kind=kind), truth, part.truth, intervals[data.language]))
    return pd.concat(done, ignore_index=True)


def _compared(
    rated: pd.DataFrame, truth: pd.Series, others: Floats, interval: RatingInterval
) -> pd.DataFrame:
    rated = rated.assign(truth=rated["system"].map(truth)).dropna(subset=["rating", "truth"])
    errors = rated.get("standard_error", pd.Series(np.nan, rated.index))
    width = pd.Series(interval.width(errors), rated.index)
    inside = (rated["rating"] - rated["truth"]).abs() <= width
    return rated.assign(
        is_better=rated["truth"] > np.nanmax(others),
        is_flagged=interval.reaches_beyond(rated["rating"], errors),
        is_inside=inside.where(np.isfinite(width)),
    )


def frontier_table(rated: pd.DataFrame) -> pd.DataFrame:
    """Count, a language each and over all (``macro``: means, of counts their sum)."""
    table = pd.DataFrame([_row(str(code), own) for code, own in rated.groupby("language")])
    counts = table[["better", "others"]].sum()
    mean = table[["flagged", "tau", "false_alarms", "coverage"]].mean()
    macro = pd.DataFrame([{"language": MACRO, **mean, **counts}])
    return pd.concat([table, macro], ignore_index=True)[table.columns]


def _row(language: str, rated: pd.DataFrame) -> dict[str, object]:
    better = rated[rated["is_better"] & (rated["kind"] == FRONTIER)]
    ordinary = rated[rated["kind"] == ORDINARY]
    others = ordinary[~ordinary["is_better"]]
    return {
        "language": language,
        "better": len(better),
        "flagged": better["is_flagged"].mean(),
        "tau": kendall_tau(*better[["rating", "truth"]].to_numpy(np.float64).T),
        "others": len(others),
        "false_alarms": others["is_flagged"].mean(),
        "coverage": ordinary["is_inside"].astype(np.float64).mean(),
    }
