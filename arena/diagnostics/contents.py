"""What an arena holds: questions, passages, answers, their lengths, and answers that are no own."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd

from arena.data.arena import Arena
from arena.data.errors import checked_choice
from arena.data.schema import QUESTION_KEY
from arena.data.wording import count_of
from arena.diagnostics.finding import Finding, listed
from arena.text.answers import parse_answer

CONTENT_COLUMNS = [
    *("language", "questions", "question_length"),
    *("relevant_passages", "other_passages", "unlabeled_passages"),
    *("passage_length", "context_length"),
    *("systems", "answers", "reason_length", "answer_length", "judgments"),
]


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
        A row a language, columns ``CONTENT_COLUMNS``. Passages are the mean of a question, by
        label: relevant, not relevant (``other``), none. Lengths are means: of a question, of a
        passage with its title, of all passages of a question (``context``), of the reason before
        an answer, of an answer; missing where there is none.

    Raises:
        UsageError: If the arena has no such system.
    """
    for system in systems:
        checked_choice(system, arena.info.systems, "system")
    answers, judgments = arena.answers, arena.judgments
    if systems:
        answers = answers[answers["system"].isin(systems)]
        is_between = judgments["system_a"].isin(systems) & judgments["system_b"].isin(systems)
        judgments = judgments[is_between]
    questions = _questions(arena.queries, length)
    said = _answers(answers, length)
    by_language = questions.groupby("language", sort=True)
    means = by_language.mean(numeric_only=True)
    passages = questions["passages"].groupby(questions["language"]).sum()
    table = pd.DataFrame(
        {
            "questions": by_language.size(),
            "question_length": means["question"],
            "relevant_passages": means["relevant"],
            "other_passages": means["other"],
            "unlabeled_passages": means["unlabeled"],
            "passage_length": by_language["context"].sum() / passages.where(passages > 0),
            "context_length": means["context"].where(passages > 0),
            "systems": said.groupby("language")["system"].nunique(),
            "answers": said.groupby("language").size(),
            "reason_length": said.groupby("language")["reason"].mean(),
            "answer_length": said.groupby("language")["answer"].mean(),
            "judgments": judgments.groupby("language").size(),
        }
    )
    counts = ["questions", "systems", "answers", "judgments"]
    table[counts] = table[counts].fillna(0).astype(int)
    return table.rename_axis("language").reset_index()[CONTENT_COLUMNS]


def _questions(queries: pd.DataFrame, length: Callable[[str], int]) -> pd.DataFrame:
    rows = [
        {
            "language": language,
            "question": float(length(query)),
            "relevant": sum(passage.get("relevance") == 1 for passage in passages),
            "other": sum(passage.get("relevance") == 0 for passage in passages),
            "unlabeled": sum(passage.get("relevance") is None for passage in passages),
            "passages": len(passages),
            "context": float(sum(length(_shown(passage)) for passage in passages)),
        }
        for language, query, passages in queries[["language", "query", "passages"]].itertuples(
            index=False, name=None
        )
    ]
    return pd.DataFrame(rows)


def _shown(passage: dict[str, object]) -> str:
    return f"{passage.get('title') or ''} {passage['text']}".strip()


def _answers(answers: pd.DataFrame, length: Callable[[str], int]) -> pd.DataFrame:
    parts = [parse_answer(output) for output in answers["answer"]]
    return pd.DataFrame(
        {
            "language": answers["language"].to_numpy(),
            "system": answers["system"].to_numpy(),
            "reason": [None if part.reason is None else length(part.reason) for part in parts],
            "answer": [length(part.text) for part in parts],
        }
    ).astype({"reason": "float64", "answer": "float64"})


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
        if len(own) < FEWEST_ANSWERS:
            continue
        repeated = int((own["text"] == own["question"]).sum())
        commonest = int(own["text"].value_counts().iloc[0])
        total = count_of(len(own), "answer")
        if repeated > MOST_OF_THEM * len(own):
            sentence = f"{repeated:,} of {total} repeat the question"
            yield Finding("warning", "same answers", f"{language}, {system}", sentence)
        elif commonest > MOST_OF_THEM * len(own):
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
    return shared >= FEWEST_ANSWERS and int((one == other).sum()) > MOST_OF_THEM * shared
