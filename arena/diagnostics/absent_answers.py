"""Answers that nobody judged, and judgments of answers that are not there."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from arena.diagnostics.finding import Finding, counted, subject_of
from arena.diagnostics.verdicts import GROUP, groups_of, sums
from arena.tables import ANSWER_KEY


def answers_table(table: pd.DataFrame, answers: pd.DataFrame) -> pd.DataFrame:
    """Hold judgments against the answers they are about.

    Args:
        table: As ``verdicts`` returns it.
        answers: Columns ``query_id, language, system``.

    Returns:
        Columns ``language, judge, answers, not_judged`` (answers in no judgment) and
        ``judgments_without_answer`` (one or both systems gave no answer to that question).
    """
    groups = groups_of(table)
    known = pd.MultiIndex.from_frame(answers[ANSWER_KEY])
    absent = ~(_judged(table, "first").isin(known) & _judged(table, "second").isin(known))
    counts = sums(table, groups, {"judgments_without_answer": absent})
    in_language = groups["language"].map(answers["language"].value_counts()).fillna(0).astype(int)
    seen = _seen(table)
    given = seen[pd.MultiIndex.from_frame(seen[ANSWER_KEY]).isin(known)]
    counts.insert(2, "answers", in_language)
    counts.insert(3, "not_judged", in_language - sums(given, groups, {"n": 1})["n"])
    return counts


def _judged(table: pd.DataFrame, side: str) -> pd.MultiIndex:
    return pd.MultiIndex.from_frame(table[["language", "query_id", side]], names=ANSWER_KEY)


def _seen(table: pd.DataFrame) -> pd.DataFrame:
    sides = [
        table[[*GROUP, "query_id", side]].rename(columns={side: "system"})
        for side in ("first", "second")
    ]
    return pd.concat(sides).drop_duplicates()


def answer_findings(absent: pd.DataFrame) -> Iterator[Finding]:
    """Say which answers and judgments do not meet."""
    for row in absent.itertuples():
        subject = subject_of(row.language, row.judge)
        if row.judgments_without_answer:
            sentence = (
                f"{counted(row.judgments_without_answer, 'judgment')} of a system that gave no "
                "answer to that question"
            )
            yield Finding("warning", "absent answers", subject, sentence)
        if row.not_judged:
            sentence = f"{row.not_judged:,} of {row.answers:,} answers are in no judgment"
            yield Finding("info", "answers not judged", subject, sentence)
