"""Evaluation sets: which questions are asked, and whose answers kept (MIRAGE-Bench, MEMERAG)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pandas as pd

from arena.data.arena import Arena
from arena.data.errors import UsageError
from arena.data.schema import QUESTION_KEY
from arena.data.seeds import generator
from arena.generation.context import context_words
from arena.generation.questions import choose_questions, is_drawn, question_keys
from arena.judging.pairs import QuestionKey
from arena.text.answers import parse_answer


@dataclass(frozen=True)
class QuestionRules:
    """Which questions make an evaluation set (MIRAGE-Bench, section 3.2).

    Attributes:
        only_hard: Leave out questions without a passage that is labeled not relevant.
        at_least: Where a language has fewer hard questions, fill up with others to so many, drawn
            at random (the paper's footnote 4: 72 further questions in Telugu); 0 fills nothing.
        sample: Questions to draw of each language; None keeps all.
        seed: Seed of both draws, which rest on each question's content alone.
    """

    only_hard: bool = True
    at_least: int = 0
    sample: int | None = None
    seed: int = 0


@dataclass(frozen=True)
class AnswerRules:
    """Which answered questions make a set to annotate (MEMERAG, sections 3.3 and 3.5).

    Attributes:
        least_words: Leave out questions to which any system gave an answer with fewer words; 0
            keeps all. Scripts without spaces are counted in pairs of characters.
        questions: Questions to draw of each language; None keeps all.
        others: Keep the questions that are not drawn instead, such as to test on them.
        one_answer: Keep one answer a question, systems as evenly as can be, without overlap.
        seed: Seed of both draws.
    """

    least_words: int = 0
    questions: int | None = None
    others: bool = False
    one_answer: bool = False
    seed: int = 0


@dataclass(frozen=True)
class EvaluationSet:
    """An arena cut down.

    Attributes:
        arena: What is kept.
        counts: Columns ``language, reason, count``: questions and answers left out, and why.
    """

    arena: Arena
    counts: pd.DataFrame


OTHER_LANGUAGE = "questions in other languages"
OF_OTHERS = {
    "answers": "answers of other systems",
    "judgments": "judgments of other systems or judges",
    "published_ratings": "ratings published of other systems or judges",
}
EASY = "questions without a passage labeled not relevant"
NOT_DRAWN = "questions not drawn"
DRAWN = "questions drawn, of which the others are kept"
SHORT = "questions with an answer of fewer words"
OTHER_SYSTEM = "answers of the systems not drawn"
UNPAIRED = "judgments, of which one answer a question leaves none"
UNANSWERED = "questions that not all systems answered"


def select_part(
    arena: Arena,
    languages: Sequence[str] | None = None,
    systems: Sequence[str] | None = None,
    judges: Sequence[str] | None = None,
) -> EvaluationSet:
    """Keep some languages, systems or judges of an arena, and count what is left out.

    Args:
        arena: The arena.
        languages: As for ``Arena.part``, as are those that follow.
        systems: Systems, the reference system among them.
        judges: Judges.

    Raises:
        UsageError: If the arena has no such language, system or judge, or the reference system is
            left out.
    """
    kept = arena.part(languages, systems, judges)
    others = arena.queries[~arena.queries["language"].isin(kept.info.languages)]
    left = [_counted(others, OTHER_LANGUAGE)]
    spoken = arena.part(languages)
    for name, reason in OF_OTHERS.items():
        sizes = [getattr(each, name)["language"].value_counts() for each in (spoken, kept)]
        fewer = sizes[0].sub(sizes[1], fill_value=0).sort_index()
        counts = fewer[fewer > 0].rename("count").rename_axis("language").reset_index()
        left.append(counts.assign(reason=reason))
    return EvaluationSet(kept, _all_counts(left))


def select_questions(arena: Arena, rules: QuestionRules) -> EvaluationSet:
    """Choose the questions of an evaluation set.

    Args:
        arena: Questions with labeled passages; answers and judgments of others go with them.
        rules: What to keep.

    Raises:
        UsageError: For a number below its least, or if no question is left.
    """
    queries = arena.queries
    left: list[pd.DataFrame] = []
    if rules.only_hard:
        is_hard = queries["passages"].map(_is_hard).astype(bool)
        easy = queries[~is_hard]
        filled = _filled(queries[is_hard], easy, rules)
        left.append(_counted(easy[~easy.index.isin(filled)], EASY))
        queries = queries[is_hard | queries.index.isin(filled)]
    if queries.empty:
        raise UsageError(
            "no question has a passage labeled not relevant; keep them with `keep_easy`"
        )
    if rules.sample is not None:
        drawn = choose_questions(queries, None, rules.sample, rules.seed)
        queries = _kept(queries, _is_in(queries, question_keys(drawn)), NOT_DRAWN, left)
    return EvaluationSet(_with_questions(arena, queries), _all_counts(left))


def select_answers(arena: Arena, rules: AnswerRules) -> EvaluationSet:
    """Choose the questions and answers of a set to annotate.

    Args:
        arena: Questions and answers of one or several systems.
        rules: What to keep.

    Raises:
        UsageError: For a number below its least, or if no question is left.
    """
    if rules.least_words < 0:
        raise UsageError(f"an answer cannot have at least {rules.least_words} words")
    left: list[pd.DataFrame] = []
    queries, answers = arena.queries, arena.answers
    if rules.least_words:
        is_short = answers["answer"].map(answer_words) < rules.least_words
        is_out = _is_in(queries, question_keys(answers[is_short]))
        queries = _kept(queries, ~is_out, f"{SHORT} than {rules.least_words}", left)
    if rules.one_answer:
        per_question = answers.groupby(QUESTION_KEY)["system"].nunique()
        systems = answers.groupby("language")["system"].nunique()
        of_language = per_question.index.get_level_values("language").map(systems)
        whole = per_question.index[per_question.to_numpy() == of_language.to_numpy()]
        queries = _kept(queries, _is_in(queries, whole), UNANSWERED, left)
    if queries.empty:
        raise UsageError("no question is left; ask for fewer words, or look at the answers")
    if rules.questions is not None:
        drawn = choose_questions(queries, None, rules.questions, rules.seed)
        is_in = _is_in(queries, question_keys(drawn)) ^ rules.others
        queries = _kept(queries, is_in, DRAWN if rules.others else NOT_DRAWN, left)
        if queries.empty:
            raise UsageError("all questions are drawn, so there are no others; draw fewer")
    kept = _with_questions(arena, queries)
    if rules.one_answer:
        chosen = one_answer_each(kept.answers, rules.seed)
        left.append(_counted(kept.answers[~kept.answers.index.isin(chosen.index)], OTHER_SYSTEM))
        left.append(_counted(kept.judgments, UNPAIRED))
        kept = replace(
            kept, answers=chosen.reset_index(drop=True), judgments=kept.judgments.iloc[:0]
        )
    return EvaluationSet(kept, _all_counts(left))


def one_answer_each(answers: pd.DataFrame, seed: int = 0) -> pd.DataFrame:
    """Keep one answer of each question, so that each system has as many as any other, or one less.

    MEMERAG's design: 250 questions a language, 50 a model, none twice (section 3.5).

    Args:
        answers: Answers of every system to every question.
        seed: Seed of the draw.

    Returns:
        One row a question, in the order of the table.
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


def _is_hard(passages: Sequence[dict[str, object]]) -> bool:
    return any(passage.get("relevance") == 0 for passage in passages)


def _filled(hard: pd.DataFrame, easy: pd.DataFrame, rules: QuestionRules) -> pd.Index:
    """Return the easy questions drawn where a language has too few hard ones."""
    if rules.at_least < 0:
        raise UsageError(f"a language cannot have at least {rules.at_least} questions")
    drawn: list[object] = []
    for language, rows in easy.groupby("language"):
        wanted = rules.at_least - int((hard["language"] == language).sum())
        if wanted > 0:
            drawn += list(rows.index[is_drawn(rows, wanted, rules.seed)])
    return pd.Index(drawn)


def _is_in(table: pd.DataFrame, keys: Iterable[QuestionKey]) -> npt.NDArray[np.bool_]:
    known = set(keys)
    return np.array([key in known for key in question_keys(table)], np.bool_)


def _kept(
    queries: pd.DataFrame, is_in: npt.NDArray[np.bool_], reason: str, left: list[pd.DataFrame]
) -> pd.DataFrame:
    """Return the questions kept; the others are counted with their reason."""
    left.append(_counted(queries[~is_in], reason))
    return queries[is_in]


def _with_questions(arena: Arena, queries: pd.DataFrame) -> Arena:
    kept = arena.part(languages=set(queries["language"]))
    return replace(
        kept,
        queries=queries.reset_index(drop=True),
        **{
            name: table[_is_in(table, question_keys(queries))].reset_index(drop=True)
            for name, table in (("answers", kept.answers), ("judgments", kept.judgments))
        },
    )


def _counted(rows: pd.DataFrame, reason: str) -> pd.DataFrame:
    counts = rows.groupby("language").size().rename("count").reset_index()
    return counts.assign(reason=reason)[["language", "reason", "count"]]


def _all_counts(parts: Sequence[pd.DataFrame]) -> pd.DataFrame:
    empty = pd.DataFrame({"language": [], "reason": [], "count": []})
    table = pd.concat([empty.astype({"count": int}), *parts], ignore_index=True)
    return table.astype({"language": "str", "reason": "str", "count": int})
