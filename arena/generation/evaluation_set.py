"""Evaluation sets: which questions are asked, and whose answers kept (MIRAGE-Bench, MEMERAG)."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from arena.data.arena import Arena
from arena.data.errors import UsageError
from arena.data.schema import QUESTION_KEY
from arena.data.seeds import generator
from arena.data.types import Flags
from arena.generation.context import context_words
from arena.generation.questions import choose_questions, is_drawn, question_keys
from arena.judging.answer_pairs import QuestionKey
from arena.text.answers import parse_answer

EASY = "questions without a passage labeled not relevant"
NOT_DRAWN = "questions not drawn"
DRAWN = "questions drawn, of which the others are kept"
SHORT = "questions with an answer of fewer words"
UNANSWERED = "questions that not all systems answered"


@dataclass(frozen=True)
class SetRules:
    """Which questions and answers make an evaluation set.

    Attributes:
        only_hard: Leave out questions without a passage labeled not relevant (MIRAGE-Bench, 3.2).
        at_least: Where a language has fewer hard questions, fill up with others to so many, drawn
            at random (the paper's footnote 4).
        least_words: Leave out questions to which any system gave an answer with fewer words
            (MEMERAG, 3.3); scripts without spaces are counted in pairs of characters.
        questions: Questions to draw of each language; None keeps all.
        others: Keep the questions that are not drawn instead.
        one_answer: Keep one answer a question, systems as evenly as can be (MEMERAG, 3.5).
        seed: Of all draws, which rest on each question's content alone.
    """

    only_hard: bool = False
    at_least: int = 0
    least_words: int = 0
    questions: int | None = None
    others: bool = False
    one_answer: bool = False
    seed: int = 0


def evaluation_set(arena: Arena, rules: SetRules) -> tuple[Arena, pd.DataFrame]:
    """Cut an arena down to an evaluation set; answers and judgments go with their questions.

    Returns:
        What is kept; and columns ``language, reason, count`` of what is left out, and why.

    Raises:
        UsageError: For a number below its least, or if no question is left.
    """
    for number, noun in ((rules.at_least, "questions"), (rules.least_words, "words")):
        if number < 0:
            raise UsageError(f"there cannot be at least {number} {noun}; give 0 or more")
    left: list[pd.DataFrame] = []
    queries, answers = arena.queries, arena.answers

    def kept(queries: pd.DataFrame, is_in: Flags, reason: str) -> pd.DataFrame:
        left.append(_counted(queries[~is_in], reason))
        return queries[is_in]

    if rules.only_hard:
        queries = kept(queries, _is_hard(queries, rules), EASY)
        if queries.empty:
            raise UsageError("no question has a passage labeled not relevant")
    if rules.least_words:
        is_short = answers["answer"].map(answer_words) < rules.least_words
        is_out = _is_in(queries, question_keys(answers[is_short]))
        queries = kept(queries, ~is_out, f"{SHORT} than {rules.least_words}")
    if rules.one_answer:
        systems = answers.groupby("language")["system"].nunique()
        counts = answers.groupby(QUESTION_KEY)["system"].nunique()
        whole = [key for key, count in counts.items() if count == systems[key[0]]]
        queries = kept(queries, _is_in(queries, whole), UNANSWERED)
    if queries.empty:
        raise UsageError("no question is left; ask for fewer words, or look at the answers")
    if rules.questions is not None:
        drawn = choose_questions(queries, None, rules.questions, rules.seed)
        is_in = _is_in(queries, question_keys(drawn)) ^ rules.others
        queries = kept(queries, is_in, DRAWN if rules.others else NOT_DRAWN)
        if queries.empty:
            raise UsageError("all questions are drawn, so there are no others; draw fewer")
    found = _with_questions(arena, queries)
    if rules.one_answer:
        chosen = one_answer_each(found.answers, rules.seed)
        none = found.judgments.iloc[:0]
        found = replace(found, answers=chosen.reset_index(drop=True), judgments=none)
    empty = pd.DataFrame({"language": [], "reason": [], "count": []}).astype({"count": int})
    return found, pd.concat([empty, *left], ignore_index=True).astype({"count": int})


def one_answer_each(answers: pd.DataFrame, seed: int = 0) -> pd.DataFrame:
    """Keep one answer of each question, so that each system has as many as any other, or one less.

    MEMERAG's design: 250 questions a language, 50 a model, none twice (section 3.5). Every system
    must have answered every question.
    """
    kept: list[int] = []
    for language, rows in answers.groupby("language", sort=True):
        by_question = dict(iter(rows.groupby("query_id", sort=True)))
        names = sorted(by_question)
        order = generator(seed, "generation", "one answer", str(language)).permutation(len(names))
        systems = sorted(rows["system"].unique())
        shift = generator(seed, "generation", "first system", str(language)).integers(len(systems))
        for place, number in enumerate(order):
            part = by_question[names[number]]
            system = systems[(place + int(shift)) % len(systems)]
            own = part[part["system"] == system]
            kept.append(int((own if len(own) else part).index[0]))
    return answers[answers.index.isin(kept)]


def answer_words(output: str) -> int:
    """Count the words of an answer, without its reason; as BM25 cuts them."""
    return len(context_words(parse_answer(output).text))


def _is_hard(queries: pd.DataFrame, rules: SetRules) -> Flags:
    """Tell which questions are hard, or drawn where a language has too few hard ones."""

    def is_hard(passages: Sequence[dict[str, object]]) -> bool:
        return any(passage.get("relevance") == 0 for passage in passages)

    hard = queries["passages"].map(is_hard).astype(bool)
    for language, easy in queries[~hard].groupby("language"):
        wanted = rules.at_least - int(hard[queries["language"] == language].sum())
        if wanted > 0:
            hard[easy.index[is_drawn(easy, wanted, rules.seed)]] = True
    return np.asarray(hard, np.bool_)


def _is_in(table: pd.DataFrame, keys: Collection[QuestionKey]) -> Flags:
    known = set(keys)
    return np.array([key in known for key in question_keys(table)], np.bool_)


def _with_questions(arena: Arena, queries: pd.DataFrame) -> Arena:
    kept = arena.part(languages=set(queries["language"]))
    keys = question_keys(queries)
    tables = {
        name: table[_is_in(table, keys)].reset_index(drop=True)
        for name, table in (("answers", kept.answers), ("judgments", kept.judgments))
    }
    return replace(kept, queries=queries.reset_index(drop=True), **tables)


def _counted(rows: pd.DataFrame, reason: str) -> pd.DataFrame:
    counts = rows.groupby("language").size().rename("count").reset_index()
    return counts.assign(reason=reason)[["language", "reason", "count"]]
