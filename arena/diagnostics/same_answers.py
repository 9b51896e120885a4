"""Answers that cannot be what a system wrote: the question, one text for all, another's answers."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import pandas as pd

from arena.data.arena import Arena
from arena.data.schema import QUESTION_KEY
from arena.data.wording import count_of
from arena.diagnostics.finding import Finding, listed
from arena.text.answers import parse_answer

MOST = 0.5
"""Share of answers above which they are most of them."""
FEWEST = 5
"""Answers of which it is told at least."""


def same_answer_findings(arena: Arena) -> Iterator[Finding]:
    """Name systems whose answers repeat the question, each other, or another system's.

    Texts are compared without regard to case and white space.
    """
    asked = arena.queries[[*QUESTION_KEY, "query"]]
    rows = arena.answers[[*QUESTION_KEY, "system", "answer"]].merge(asked, on=QUESTION_KEY)
    rows = rows.assign(
        text=[_plain(parse_answer(output).text) for output in rows["answer"]],
        question=rows["query"].map(_plain),
    )
    for language, own in rows.groupby("language"):
        yield from _of_language(str(language), own[own["text"] != ""])


def _plain(text: str) -> str:
    return " ".join(text.split()).casefold()


def _of_language(language: str, rows: pd.DataFrame) -> Iterator[Finding]:
    for system, own in rows.groupby("system"):
        if len(own) < FEWEST:
            continue
        repeated = int((own["text"] == own["question"]).sum())
        commonest = int(own["text"].value_counts().iloc[0])
        total = count_of(len(own), "answer")
        if repeated > MOST * len(own):
            sentence = f"{repeated:,} of {total} repeat the question"
            yield Finding("warning", "same answers", f"{language}, {system}", sentence)
        elif commonest > MOST * len(own):
            sentence = f"{commonest:,} of {total} are one and the same text"
            yield Finding("warning", "same answers", f"{language}, {system}", sentence)
    for group in _alike(rows):
        sentence = f"{listed(group)} gave the same answers to most of the questions they share"
        yield Finding("warning", "same answers", language, sentence)


def _alike(rows: pd.DataFrame) -> list[list[str]]:
    """Put systems together that agree word for word on most questions."""
    wide = rows.assign(code=pd.factorize(rows["text"])[0]).pivot_table(
        index="system", columns="query_id", values="code", aggfunc="first"
    )
    codes = wide.to_numpy(np.float64, na_value=np.nan)
    groups: list[list[int]] = []
    for place, own in enumerate(codes):
        found = next((group for group in groups if _agree(codes[group[0]], own)), None)
        if found is None:
            groups.append([place])
        else:
            found.append(place)
    return [[str(wide.index[place]) for place in group] for group in groups if len(group) > 1]


def _agree(one: npt.NDArray[np.float64], other: npt.NDArray[np.float64]) -> bool:
    shared = int((np.isfinite(one) & np.isfinite(other)).sum())
    return shared >= FEWEST and int((one == other).sum()) > MOST * shared
