"""What an arena holds: questions, passages, answers, their lengths, and answers that are no own."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
import pandas as pd

from arena.data.arena import Arena
from arena.data.errors import checked_choice
from arena.data.schema import QUESTION_KEY
from arena.data.wording import count_of
from arena.diagnostics.verdicts import Finding, listed
from arena.text.answers import parse_answer

MOST_OF_THEM = 0.5
"""Share of answers above which they are most of them."""
FEWEST_ANSWERS = 5
"""Answers of which it is said at least that they are the same."""


def white_space_words(text: str) -> int:
    """Count the words between white space, as MEMERAG's table 1 does.

    Scripts without spaces (Chinese, Japanese, Thai) have hardly any: count these by a tokenizer.
    """
    return len(text.split())


def arena_contents(
    arena: Arena,
    length: Callable[[str], int] = white_space_words,
    systems: Sequence[str] = (),
) -> pd.DataFrame:
    """Count what an arena holds (MIRAGE-Bench, table 1; MEMERAG, table 1).

    Args:
        arena: Questions, and answers and judgments, if there are any.
        length: Length of a text, such as its tokens.
        systems: Systems whose answers and judgments count; all if left out.

    Returns:
        A row a language. Passages are the mean of a question, by label: ``relevant_passages,
        other_passages`` (not relevant), ``unlabeled_passages``. Lengths are means: of a question,
        of a passage with its title, of all passages of a question (``context_length``), of the
        reason before an answer, of an answer; missing where there is none. ``questions, systems,
        answers, judgments`` are counts.

    Raises:
        UsageError: If the arena has no such system.
    """
    answers, judgments = arena.answers, arena.judgments
    if systems:
        known = [checked_choice(system, arena.info.systems, "system") for system in systems]
        answers = answers[answers["system"].isin(known)]
        judgments = judgments[judgments[["system_a", "system_b"]].isin(known).all(axis=1)]
    asked = arena.queries[["language", "query", "passages"]].to_dict("records")
    rows = []
    for row in asked:
        labels = [passage.get("relevance") for passage in row["passages"]]
        sizes = [
            length(f"{passage.get('title') or ''} {passage['text']}".strip())
            for passage in row["passages"]
        ]
        counts = [labels.count(1), labels.count(0), labels.count(None), len(sizes), sum(sizes)]
        rows.append([row["language"], length(row["query"]), *counts])
    passages = ["relevant_passages", "other_passages", "unlabeled_passages"]
    names = ["language", "question_length", *passages, "number", "context_length"]
    questions = pd.DataFrame(rows, columns=names).groupby("language", sort=True)
    parts = [parse_answer(output) for output in answers["answer"]]
    said = answers[["language", "system"]].assign(
        reason=[np.nan if part.reason is None else length(part.reason) for part in parts],
        answer=[float(length(part.text)) for part in parts],
    )
    said_of, means, totals = said.groupby("language"), questions.mean(), questions.sum()
    has_passages = totals["number"] > 0
    table = means.drop(columns="number").assign(
        questions=questions.size(),
        passage_length=totals["context_length"] / totals["number"].where(has_passages),
        context_length=means["context_length"].where(has_passages),
        systems=said_of["system"].nunique(),
        answers=said_of.size(),
        reason_length=said_of["reason"].mean(),
        answer_length=said_of["answer"].mean(),
        judgments=judgments.groupby("language").size(),
    )
    whole = ["questions", "systems", "answers", "judgments"]
    table[whole] = table[whole].fillna(0).astype(int)
    return table.reset_index()


def same_answer_findings(arena: Arena) -> Iterator[Finding]:
    """Name systems whose answers repeat the question, each other, or another system's.

    Texts are compared without regard to case and white space.
    """
    asked = arena.queries[[*QUESTION_KEY, "query"]]
    rows = arena.answers[[*QUESTION_KEY, "system", "answer"]].merge(asked, on=QUESTION_KEY)
    rows["text"] = [_plain(parse_answer(output).text) for output in rows["answer"]]
    rows["question"] = rows["query"].map(_plain)
    for (language, system), own in rows[rows["text"] != ""].groupby(["language", "system"]):
        repeated = int((own["text"] == own["question"]).sum())
        commonest = int(own["text"].value_counts().iloc[0])
        most = max(MOST_OF_THEM * len(own), 0 if len(own) >= FEWEST_ANSWERS else np.inf)
        if max(repeated, commonest) > most:
            times, said = (repeated, "repeat the question")
            if repeated <= most:
                times, said = commonest, "are the same text"
            sentence = f"{times:,} of {count_of(len(own), 'answer')} {said}"
            yield Finding("warning", "same answers", f"{language}, {system}", sentence)
    for language, own in rows[rows["text"] != ""].groupby("language"):
        for group in _alike(own):
            sentence = f"{listed(group)} gave the same answers to most of the questions they share"
            yield Finding("warning", "same answers", str(language), sentence)


def _plain(text: str) -> str:
    return " ".join(text.split()).casefold()


def _alike(rows: pd.DataFrame) -> list[list[str]]:
    """Put systems together that agree word for word on most questions."""
    wide = rows.assign(code=pd.factorize(rows["text"])[0]).pivot_table(
        index="system", columns="query_id", values="code", aggfunc="first"
    )
    codes = wide.fillna(-1).to_numpy(np.int64)
    groups: list[list[str]] = []
    first = np.empty_like(codes)  # of each group's first system
    for name, own in zip(wide.index, codes, strict=True):
        others = first[: len(groups), own >= 0]
        shared = (others >= 0).sum(axis=1)
        same = (others == own[own >= 0]).sum(axis=1)
        like = np.flatnonzero((shared >= FEWEST_ANSWERS) & (same > MOST_OF_THEM * shared))
        if like.size:
            groups[like[0]].append(str(name))
        else:
            first[len(groups)] = own
            groups.append([str(name)])
    return [group for group in groups if len(group) > 1]
