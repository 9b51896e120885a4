"""What an arena holds, language by language: questions, passages, answers, and their lengths."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pandas as pd

from arena.data.arena import Arena
from arena.data.errors import checked_choice
from arena.text.answers import parse_answer

CONTENT_COLUMNS = [
    *("language", "questions", "question_length"),
    *("relevant_passages", "other_passages", "unlabeled_passages"),
    *("passage_length", "context_length"),
    *("systems", "answers", "reason_length", "answer_length", "judgments"),
]


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
