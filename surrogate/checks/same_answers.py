"""Systems whose answers repeat the question, each other, or another system's."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from arena.data.arena import Arena
from arena.data.schema import QUESTION_KEY
from arena.data.wording import Remark, count_of, first_of
from arena.text.answers import parse_answer

FEWEST_ANSWERS = 5
"""Number of answers from which it is said that they are the same."""


def same_answer_remarks(arena: Arena) -> Iterator[Remark]:
    """Name systems whose answers repeat the question, each other, or another system's.

    Texts are compared without regard to case and white space.
    """
    # Number of systems that a remark names
    shown_names = 5
    queries = arena.queries[[*QUESTION_KEY, "query"]]
    rows = arena.answers[[*QUESTION_KEY, "system", "answer"]].merge(queries, on=QUESTION_KEY)
    rows["text"] = [_plain(parse_answer(output).text) for output in rows["answer"]]
    rows["question"] = rows["query"].map(_plain)
    # Empty answers are counted elsewhere, as missing.
    rows = rows[rows["text"] != ""]
    for (language, system), answers in rows.groupby(["language", "system"]):
        if len(answers) < FEWEST_ANSWERS:
            continue
        n_repeated = int((answers["text"] == answers["question"]).sum())
        n_same = int(answers["text"].value_counts().iloc[0])
        if n_repeated > len(answers) / 2:
            sentence = f"{n_repeated:,} of {count_of(len(answers), 'answer')} repeat the question"
        elif n_same > len(answers) / 2:
            sentence = f"{n_same:,} of {count_of(len(answers), 'answer')} are the same text"
        else:
            continue
        yield Remark("same answers", "warning", sentence, subject=f"{language}, {system}")
    for language, answers in rows.groupby("language"):
        for group in _groups_alike(answers):
            systems = first_of(group, shown_names)
            sentence = f"most of their shared questions have the same answer from {systems}"
            yield Remark("same answers", "warning", sentence, subject=str(language))


def _plain(text: str) -> str:
    return " ".join(text.split()).casefold()


def _groups_alike(rows: pd.DataFrame) -> list[list[str]]:
    by_system = rows.assign(code=pd.factorize(rows["text"])[0]).pivot_table(
        index="system", columns="query_id", values="code", aggfunc="first"
    )
    # Code of each answer's text, -1 where there is no answer: (systems, questions).
    codes = by_system.fillna(-1).to_numpy(np.int64)
    groups: list[list[str]] = []
    # Systems are compared with the first one of each group: not with every other system, whose
    # number grows with the square.
    firsts = np.empty_like(codes)
    for system, system_codes in zip(by_system.index, codes, strict=True):
        is_answered = system_codes >= 0
        others = firsts[: len(groups), is_answered]
        n_shared = (others >= 0).sum(axis=1)
        n_same = (others == system_codes[is_answered]).sum(axis=1)
        is_alike = (n_shared >= FEWEST_ANSWERS) & (n_same > n_shared / 2)
        if is_alike.any():
            groups[int(np.argmax(is_alike))].append(str(system))
        else:
            firsts[len(groups)] = system_codes
            groups.append([str(system)])
    return [group for group in groups if len(group) > 1]
