"""Whether a judge prefers systems of its own family, beyond what other judges of the pairs say."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd

from arena.data.schema import is_derived
from arena.data.seeds import generator
from arena.data.wording import count_of
from arena.diagnostics.families import model_families
from arena.diagnostics.finding import Finding, listed, subject_of
from arena.diagnostics.verdicts import GROUP, ITEM, QUESTION_PAIR
from arena.statistics.bootstrap import percentile_interval, resampled_sums

RESAMPLES = 2000
FAMILY = "family"
MODEL = "model"

SELF_PREFERENCE_COLUMNS = [
    *(*GROUP, "family", "systems", "others", "items", "questions"),
    *("share", "share_others", "excess", "low", "high"),
]

Families = Mapping[str, Collection[str]]


def families_of_systems(
    systems: Sequence[str],
    attributes: pd.DataFrame | None = None,
    named: Mapping[str, str] | None = None,
) -> dict[str, frozenset[str]]:
    """Tell the families of systems.

    Args:
        systems: The systems.
        attributes: What they are made of: ``system`` and, if it is there, ``family``, else
            ``model``, whose name tells it; else the system's own name does.
        named: System to its family, before all else.
    """
    told: dict[str, dict[str, object]] = {}
    if attributes is not None and len(attributes):
        told = attributes.set_index("system").to_dict(orient="index")
    found = {}
    for system in systems:
        made = told.get(system, {})
        family, model = made.get(FAMILY), made.get(MODEL)
        if named and system in named:
            found[system] = frozenset({named[system]})
        elif isinstance(family, str) and family:
            found[system] = frozenset({family})
        else:
            found[system] = model_families(model if isinstance(model, str) else system)
    return found


def self_preference_table(
    table: pd.DataFrame, families: Families, named: Mapping[str, str] | None = None, seed: int = 0
) -> pd.DataFrame:
    """Estimate how much more a judge gives its own family than other judges of the same pairs.

    Of pairs of which one system is of the judge's family, the share of points that the judge gives
    it (a tie is half), less that by all judges of other families who judged the same pair on the
    same question, averaged; panels and calibrated judges, which say what others said, are no
    witnesses. Intervals are by the bootstrap over questions. It is an upper bound of
    what the literature calls self-preference: judges may differ for reasons of their own that
    happen to favor the family (Panickssery et al., 2024; Wataoka et al., 2024).

    Args:
        table: As ``verdicts`` returns it.
        families: System to its families; see ``families_of_systems``.
        named: Judge to its family, where its name does not tell.
        seed: Seed of the bootstrap.

    Returns:
        ``SELF_PREFERENCE_COLUMNS``, a row a language, judge and family of it that some system has:
        its systems, the other judges of pairs that are shared, these pairs and their questions,
        both shares and the excess (1 is all points) with its 95% interval; NaN where no other
        judge judged a pair.
    """
    named = named or {}
    kinds = {
        str(rater): frozenset({named[rater]}) if rater in named else model_families(str(rater))
        for rater in sorted(table["rater"].unique())
    }
    wanted = [
        (rater, family, sorted(system for system, its in families.items() if family in its))
        for rater, of_rater in kinds.items()
        for family in sorted(of_rater)
    ]
    wanted = [each for each in wanted if each[2]]
    rows: list[list[object]] = []
    scored = _scored(table) if wanted else table
    for rater, family, kin in wanted:
        outside = [other for other in kinds if family not in kinds[other] and not is_derived(other)]
        rows += _rows(scored, rater, family, kin, outside, seed)
    return pd.DataFrame(rows, columns=SELF_PREFERENCE_COLUMNS)


def _scored(table: pd.DataFrame) -> pd.DataFrame:
    """Average what each judge gives the first system of a pair, over its verdicts on it."""
    return table.groupby(ITEM, sort=True, observed=True)["points"].mean().reset_index()


def _rows(
    scored: pd.DataFrame, rater: str, family: str, kin: list[str], outside: list[str], seed: int
) -> Iterator[list[object]]:
    """Compare a judge with those of other families, language by language."""
    is_first, is_second = scored["first"].isin(kin), scored["second"].isin(kin)
    mixed = scored[is_first != is_second]
    toward = mixed["points"].where(mixed["first"].isin(kin), 1.0 - mixed["points"])
    mixed = mixed.assign(points=toward)
    others = mixed[mixed["rater"].isin(outside)]
    means = others.groupby(QUESTION_PAIR, observed=True)["points"].mean().rename("others")
    own = mixed[mixed["rater"] == rater].merge(means.reset_index(), on=QUESTION_PAIR, how="left")
    for (language, judge), part in own.groupby(GROUP, sort=True, observed=True):
        shared = part[part["others"].notna()]
        known = others.merge(shared[QUESTION_PAIR])["rater"].nunique()
        questions = shared["query_id"].nunique()
        estimate = _excess(shared, generator(seed, "self-preference", rater, family, str(language)))
        yield [language, judge, family, listed(kin), known, len(shared), questions, *estimate]


def _excess(shared: pd.DataFrame, random: np.random.Generator) -> tuple[float, ...]:
    """Return both shares, their difference, and its interval by questions."""
    if shared.empty:
        return (math.nan,) * 5
    sums = (
        shared.assign(one=1.0)
        .groupby("query_id")[["one", "points", "others"]]
        .sum()
        .to_numpy(np.float64)
    )
    own, theirs = (float(value) for value in _means(sums.sum(axis=0, keepdims=True))[0])
    low = high = math.nan
    if len(sums) > 1:
        drawn = _means(resampled_sums(sums, RESAMPLES, random))
        low, high = percentile_interval(drawn[:, 0] - drawn[:, 1])
    return own, theirs, own - theirs, low, high


def _means(sums: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    return np.asarray(sums[:, 1:] / sums[:, :1])


def self_preference_findings(table: pd.DataFrame) -> Iterator[Finding]:
    """Say by how much each judge favors its own family, as far as that can be known."""
    for row in table.itertuples():
        subject = subject_of(row.language, row.judge)
        kin = f"its own family ({row.family}: {row.systems})"
        if not row.items:
            sentence = (
                f"it judges {kin}, and no judge of another family judged the same pairs; whether "
                "it prefers it is not known"
            )
            yield Finding("warning", "self-preference", subject, sentence)
            continue
        beyond = count_of(row.others, "other judge")
        by = f"{100 * row.excess:+.1f} points of win rate beyond {beyond}"
        if not math.isnan(row.low):
            by += f", 95% interval {100 * row.low:+.1f} to {100 * row.high:+.1f}"
        surely = not math.isnan(row.low) and row.low > 0
        said = "favors" if surely else "does not surely favor"
        sentence = f"it {said} {kin}: {by}, on {count_of(row.items, 'pair')}"
        yield Finding("warning" if surely else "info", "self-preference", subject, sentence)
