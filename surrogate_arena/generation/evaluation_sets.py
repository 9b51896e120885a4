"""Evaluation sets: questions to ask, and answers to keep (MIRAGE-Bench, MEMERAG)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pandas as pd

from arena.data.arena import Arena
from arena.data.errors import UsageError
from arena.data.rows import are_in
from arena.data.schema import QUESTION_KEY
from arena.data.types import Flags
from arena.judging.choosing.drawn_questions import choose_questions, is_drawn, with_questions
from arena.statistics.bootstrap import generator
from arena.text.answers import parse_answer
from surrogate_arena.generation.context import context_words
from surrogate_arena.generation.set_rules import SetRules

EASY = "questions without a passage labeled not relevant"
NOT_DRAWN = "questions not drawn"
DRAWN = "questions drawn, of which the others are kept"
SHORT = "questions with an answer of fewer words"
UNANSWERED = "questions that not all systems answered"


def evaluation_set(arena: Arena, rules: SetRules) -> tuple[Arena, pd.DataFrame]:
    """Return an evaluation set (UsageError if empty), and counts of questions left out."""
    queries = arena.queries
    left_out = [pd.DataFrame({"language": [], "reason": [], "count": []})]
    for choose in (_hard_questions, _with_long_answers, _answered_by_all, _drawn_questions):
        choice = choose(arena, queries, rules)
        if choice is None:
            continue
        counts = queries[~choice.is_kept].groupby("language").size().reset_index(name="count")
        left_out.append(counts.assign(reason=choice.reason)[["language", "reason", "count"]])
        queries = queries[choice.is_kept]
        if queries.empty:
            raise UsageError(choice.none_left)
    evaluation = with_questions(arena, queries)
    if rules.one_answer:
        chosen = one_answer_each(evaluation.answers, rules.seed)
        # Judgments compare two answers to a question, of which one is left.
        evaluation = replace(
            evaluation,
            answers=chosen.reset_index(drop=True),
            judgments=evaluation.judgments.iloc[:0],
        )
    return evaluation, pd.concat(left_out, ignore_index=True).astype({"count": int})


class _Choice(NamedTuple):
    """Questions that a rule keeps, its reason, and the error if none is left."""

    is_kept: Flags
    reason: str
    none_left: str


def _hard_questions(_arena: Arena, queries: pd.DataFrame, rules: SetRules) -> _Choice | None:
    if not rules.only_hard:
        return None
    return _Choice(_is_hard(queries, rules), EASY, "no question has a passage labeled not relevant")


def _with_long_answers(arena: Arena, queries: pd.DataFrame, rules: SetRules) -> _Choice | None:
    if not rules.least_words:
        return None
    is_short = arena.answers["answer"].map(answer_words) < rules.least_words
    has_short_answer = are_in(queries, arena.answers[is_short], QUESTION_KEY)
    return _Choice(
        ~has_short_answer,
        f"{SHORT} than {rules.least_words}",
        "no question is left; ask for fewer words, or look at the answers",
    )


def _answered_by_all(arena: Arena, queries: pd.DataFrame, rules: SetRules) -> _Choice | None:
    if not rules.one_answer:
        return None
    n_systems = arena.answers.groupby("language")["system"].nunique()
    answered = arena.answers.groupby(QUESTION_KEY)["system"].nunique().reset_index()
    complete = answered[answered["system"] == answered["language"].map(n_systems)]
    is_complete = are_in(queries, complete, QUESTION_KEY)
    return _Choice(is_complete, UNANSWERED, "no question is left that all systems answered")


def _drawn_questions(_arena: Arena, queries: pd.DataFrame, rules: SetRules) -> _Choice | None:
    if rules.questions is None:
        return None
    drawn = choose_questions(queries, None, rules.questions, rules.seed)
    is_among_drawn = are_in(queries, drawn, QUESTION_KEY)
    if rules.others:
        none_left = "all questions are drawn, so there are no others; draw fewer"
        return _Choice(~is_among_drawn, DRAWN, none_left)
    return _Choice(is_among_drawn, NOT_DRAWN, "no question is drawn")


def one_answer_each(answers: pd.DataFrame, seed: int) -> pd.DataFrame:
    """Keep one answer to each question, as many of each system (MEMERAG, section 3.5)."""
    chosen: list[int] = []
    for language, rows in answers.groupby("language"):
        query_ids = sorted(rows["query_id"].unique())
        systems = sorted(rows["system"].unique())
        random = generator(seed, "generation", "one answer", str(language))
        order = random.permutation(len(query_ids))
        random = generator(seed, "generation", "first system", str(language))
        first = int(random.integers(len(systems)))
        answer_index = pd.Series(rows.index, index=[rows["query_id"], rows["system"]])
        # Systems take turns over the questions in random order, from a system drawn.
        for turn, question in enumerate(order):
            system = systems[(first + turn) % len(systems)]
            chosen.append(int(answer_index[query_ids[question], system]))
    return answers[answers.index.isin(chosen)]


def answer_words(output: str) -> int:
    """Count the words of an answer, without its reason; as BM25 cuts them."""
    return len(context_words(parse_answer(output).text))


def _is_hard(queries: pd.DataFrame, rules: SetRules) -> Flags:
    def has_irrelevant(passages: Sequence[dict[str, object]]) -> bool:
        return any(passage.get("relevance") == 0 for passage in passages)

    is_hard = queries["passages"].map(has_irrelevant).astype(bool)
    for language, easy in queries[~is_hard].groupby("language"):
        n_missing = rules.at_least - int(is_hard[queries["language"] == language].sum())
        if n_missing > 0:
            is_hard[easy.index[is_drawn(easy, n_missing, rules.seed)]] = True
    return np.asarray(is_hard, np.bool_)
