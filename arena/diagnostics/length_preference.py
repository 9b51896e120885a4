"""Whether a judge prefers longer answers."""

from __future__ import annotations

from collections.abc import Iterator
from types import MappingProxyType

import numpy as np
import numpy.typing as npt
import pandas as pd

from arena.answers import parse_answer
from arena.diagnostics.clustered_slope import clustered_slope
from arena.diagnostics.finding import Finding, Severity, counted, subject_of
from arena.diagnostics.leaning import (
    NORMAL_QUANTILE,
    Leaning,
    leaning,
    leaning_severity,
    shown_share,
    with_share,
)
from arena.diagnostics.verdicts import GROUP, groups_of, sums
from arena.tables import ANSWER_KEY

Floats = npt.NDArray[np.float64]

UNCLEAR = "what length does is unclear, for share and slope do not surely lean the same way"

VERDICTS: MappingProxyType[Leaning, str] = MappingProxyType(
    {
        "up": "longer answers win more, whether for their length or because better systems "
        "write more",
        "down": "shorter answers win more, whether for their length or because better systems "
        "write less",
        "none": "length makes no difference beyond chance",
        "unknown": "nothing to compare",
    }
)


def length_table(table: pd.DataFrame, answers: pd.DataFrame) -> pd.DataFrame:
    """Count how often the longer answer wins, and how fast the odds grow with its length.

    Length is that of the answer proper (see ``parse_answer``), in characters. The slope is that
    of a logistic regression, without intercept, of the first system's win on
    ``log((1 + length) / (1 + other length))``, divided by its root mean square over the battles
    of the judge; without intercept, which system is the first does not matter.

    Args:
        table: As ``verdicts`` returns it.
        answers: Columns ``query_id, language, system, answer``.

    Returns:
        Columns ``language, judge, decided`` (battles one system wins, answers of unlike length),
        ``longer_won, share, low, high`` (a Wilson interval of 95%), ``slope`` (log-odds a
        standard unit), ``slope_error`` (standard error clustered by question), ``same_length``
        and ``missing`` (decided battles left out: one answer or both are absent). NaN where a
        slope is not defined, or infinite for want of exceptions. The Wilson interval takes
        battles as independent, which those of one question are not; the slope's error does not.
    """
    groups = groups_of(table)
    decided = table[table["outcome"] != 0]
    lengths = _lengths(answers)
    ratio = np.log1p(_of(decided, "first", lengths)) - np.log1p(_of(decided, "second", lengths))
    outcome = decided["outcome"].to_numpy()
    missing = np.isnan(ratio)
    marks = {
        "decided": ~missing & (ratio != 0),
        "longer_won": ratio * outcome > 0,
        "same_length": ratio == 0,
        "missing": missing,
    }
    counts = with_share(sums(decided, groups, marks), "longer_won", "decided")
    slopes = _slopes(decided[~missing].assign(ratio=ratio[~missing]), groups)
    table = counts.merge(slopes, on=GROUP)
    last = ["same_length", "missing"]
    return table[[*(name for name in table.columns if name not in last), *last]]


def _lengths(answers: pd.DataFrame) -> pd.Series:
    sizes = [float(len(parse_answer(answer).text)) for answer in answers["answer"]]
    return pd.Series(sizes, index=pd.MultiIndex.from_frame(answers[ANSWER_KEY]), dtype=float)


def _of(table: pd.DataFrame, side: str, lengths: pd.Series) -> Floats:
    keys = pd.MultiIndex.from_frame(table[["language", "query_id", side]], names=ANSWER_KEY)
    return np.asarray(lengths.reindex(keys), dtype=np.float64)


def _slopes(decided: pd.DataFrame, groups: pd.DataFrame) -> pd.DataFrame:
    found = {}
    ordered = decided.sort_values([*GROUP, "query_id", "first", "second", "outcome", "ratio"])
    for key, part in ordered.groupby(GROUP):
        signed = part["ratio"].to_numpy() * part["outcome"].to_numpy()
        found[key] = clustered_slope(signed, part["query_id"].to_numpy())
    none = (float("nan"), float("nan"))
    rows = [found.get(key, none) for key in groups[GROUP].itertuples(index=False, name=None)]
    return groups.assign(slope=[row[0] for row in rows], slope_error=[row[1] for row in rows])


def length_findings(lengths: pd.DataFrame) -> Iterator[Finding]:
    """Say of every judge whether longer answers win more."""
    for row in lengths.itertuples():
        subject = subject_of(row.language, row.judge)
        if row.missing:
            sentence = (
                f"{counted(row.missing, 'decided battle')} left out of the comparison of lengths: "
                "an answer is absent"
            )
            yield Finding("info", "length", subject, sentence)
        if not row.decided:
            continue
        severity, verdict = _verdict(row.share, row.low, row.high, row.slope, row.slope_error)
        sentence = (
            f"the longer answer wins {row.longer_won:,} of "
            f"{counted(row.decided, 'decided battle')} "
            f"({shown_share(row.share, row.low, row.high)}{_slope(row.slope, row.slope_error)}): "
            f"{verdict}"
        )
        yield Finding(severity, "length", subject, sentence)


def _verdict(
    observed: float, low: float, high: float, slope: float, error: float
) -> tuple[Severity, str]:
    """Grade a share; where the slope has an error, both must surely lean the same way."""
    lean = leaning(low, high)
    bound = NORMAL_QUANTILE * error
    of_slope = int(slope > bound) - int(slope < -bound)
    if not np.isnan(error) and of_slope != {"up": 1, "down": -1}.get(lean, 0):
        return "info", UNCLEAR
    return leaning_severity(observed, low, high), VERDICTS[lean]


def _slope(slope: float, error: float) -> str:
    if np.isnan(slope):
        return ""
    return f"; slope {slope:.2f}" + ("" if np.isnan(error) else f", standard error {error:.2f}")
