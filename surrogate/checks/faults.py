"""What may be wrong with an answer whoever reads it: it is empty, cut, in another language.

Each fault is one of the definitions that features are measured by, with a bound: it is found
without a model, and a reader of the answer would agree. Values are missing where a fault cannot be
told.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
import pandas as pd

from arena.data.arena import Arena
from arena.data.schema import ANSWER_KEY
from features.declare.feature import Value
from features.declare.sample import Memo, Missing, Sample
from features.engine.extraction import answers_of
from features.measures.fluency import repetition
from features.measures.grounding import passage_support
from features.measures.language import PY3LANGID, target_language
from features.text.sentences import breaks_off, ends_in_mid_sentence, is_prose
from features.text.tokens import tokens_per_word, words
from surrogate.checks.fit import is_most_frequent_or_empty
from surrogate.learning.answer_texts import document_weights, hashed, unit_rows

OPENING = 200
"""Characters in which a refusal says that it is one."""


@cache
def phrases() -> Mapping[str, Sequence[str]]:
    """Return the patterns of what refusals say, by language."""
    text = files("surrogate.checks").joinpath("refusals.toml").read_text(encoding="utf-8")
    return MappingProxyType(tomllib.loads(text))


def refuses(text: str, language: str) -> bool | None:
    """Return whether an answer only says that it does not answer.

    Args:
        text: The answer, without citations.
        language: Language code of its question.

    Returns:
        None for languages whose refusals are not listed.
    """
    # Words of a refusal, or parts of words twice: a longer text answers after all
    most_words = 40
    if language not in phrases():
        return None
    if _pattern(language).search(text[:OPENING].replace("’", "'")) is None:
        return False
    tokens = words(text)
    return len(tokens) <= most_words * tokens_per_word(tokens)


@cache
def _pattern(language: str) -> re.Pattern[str]:
    """Return the pattern of a language, and of English, in which models often fall back."""
    return re.compile("|".join([*phrases()[language], *phrases()["en"]]), re.IGNORECASE)


def is_empty(sample: Sample) -> float:
    """Return 1 if the answer has no word."""
    return float(not sample.folded_words)


def is_cut(sample: Sample) -> float:
    """Return 1 if it ends in mid-sentence; NaN in scripts that do not mark the end of one."""
    return _number(ends_in_mid_sentence(sample.text))


def has_open_end(sample: Sample) -> float:
    """Return 1 if it ends without the mark that ends a sentence, as a name or a cut phrase does."""
    return _number(breaks_off(sample.text))


def is_refusal(sample: Sample) -> float:
    """Return 1 if it only says that it does not answer; NaN where its phrases are not known."""
    if not sample.folded_words:
        return np.nan
    return _number(refuses(sample.text, sample.question.language))


def is_in_other_language(sample: Sample) -> float:
    """Return 1 if it is not in the question's language; NaN for a phrase, which does not tell."""
    # Probability of the language asked for, below which an answer is in another
    unlikely = 0.05
    if not is_prose(sample.text):
        return np.nan
    probability = _value(target_language(sample, PY3LANGID, "answer"))
    return np.nan if np.isnan(probability) else float(probability < unlikely)


def cites_nothing_known(sample: Sample) -> float:
    """Return 1 if it cites an id that no passage has; NaN for a question without passages."""
    if not sample.question.passages:
        return np.nan
    return float(bool(sample.citations.unmatched))


def repeats_itself(sample: Sample) -> float:
    """Return 1 if most of its words, or a paragraph, or all of it, stood in it before."""
    # Share of an answer's words, in runs that stood before, of one that repeats itself
    loop = 0.6
    share = repetition(sample)
    if isinstance(share, Missing):
        return np.nan
    return float(share >= loop or _is_twice(sample) or _has_paragraph_twice(sample.text))


def citation_count(sample: Sample) -> float:
    """Return the number of distinct passages cited; NaN for a question without passages."""
    return float(len(sample.citations.matched)) if sample.question.passages else np.nan


def word_count(sample: Sample) -> float:
    """Return its words: characters in Chinese and Japanese, syllables in Korean."""
    return float(len(sample.folded_words))


def support(sample: Sample) -> float:
    """Return the share of its content that stands in some passage of the question."""
    return _value(passage_support(sample))


Measure = Callable[[Sample], float]
"""What is measured of a single answer."""
NO_PASSAGES = "questions and answers have no passages"


class FaultTest(NamedTuple):
    """How a fault of answers is tested, and worded.

    Attributes:
        measure: Of a single answer: 1, 0, or NaN where it cannot be told; None for what a column
            of answers shows.
        singular: What one answer does, as a clause.
        plural: What several do.
        skipped: Why it could not be told.
        least: Share of the candidate's answers that raises an alarm; 0 for any significant one.
        unclear: Column of ``measure_faults`` that is 1 for an answer that may have the fault, even
            where it is counted as without; empty where there is none.
        unclear_reason: Why that cannot be told.
    """

    measure: Measure | None
    singular: str
    plural: str
    skipped: str
    least: float = 0.0
    unclear: str = ""
    unclear_reason: str = ""


FAULT_TESTS = {
    "empty": FaultTest(is_empty, "is empty", "are empty", "there is no answer"),
    "cut": FaultTest(
        is_cut,
        "ends in mid-sentence",
        "end in mid-sentence",
        "the script does not mark the ends of sentences",
        unclear="open end",
        unclear_reason="they are phrases without a full stop",
    ),
    "other language": FaultTest(
        is_in_other_language,
        "is in another language",
        "are in another language",
        "answers are too short to tell, or the language is not known",
    ),
    "dead citation": FaultTest(
        cites_nothing_known,
        "cites a passage that is not there",
        "cite a passage that is not there",
        NO_PASSAGES,
    ),
    "repetition": FaultTest(
        repeats_itself, "repeats itself", "repeat themselves", "there is no answer"
    ),
    # Honest systems differ in these: only one that does nothing else is broken.
    "misplaced": FaultTest(
        None,
        "is on another question",
        "are on other questions",
        "answers are too short, or there is one question",
        least=0.7,
    ),
    "refusal": FaultTest(
        is_refusal,
        "refuses to answer",
        "refuse to answer",
        "refusals in the language are not known",
        least=0.9,
    ),
    "stock": FaultTest(
        None,
        "is one and the same text",
        "are one and the same text",
        "there is no answer",
        least=0.9,
    ),
}
"""Faults by the name of their column in ``measure_faults``."""


class AmountTest(NamedTuple):
    """How an amount is worded where two systems differ in it."""

    measure: Measure
    more: str
    less: str
    average: str
    form: str
    unit: str
    skipped: str


AMOUNT_TESTS = {
    "length": AmountTest(
        word_count, "are longer", "are shorter", "median", "{:,.0f}", " words", "there is no answer"
    ),
    "cited": AmountTest(
        citation_count,
        "have more citations",
        "have fewer citations",
        "mean",
        "{:.1f}",
        "",
        NO_PASSAGES,
    ),
    "support": AmountTest(
        support,
        "are closer to the passages",
        "are further from the passages",
        "mean",
        "{:.0%}",
        " of the content in them",
        NO_PASSAGES,
    ),
}


def measure_faults(
    arena: Arena, answers: pd.DataFrame, amounts: Collection[str] = tuple(AMOUNT_TESTS)
) -> pd.DataFrame:
    """Find what is wrong with answers.

    Args:
        arena: Their questions.
        answers: Columns ``language, system, query_id, answer``, and ``passages`` where some have
            their own.
        amounts: Which of ``AMOUNT_TESTS`` to measure, too.

    Returns:
        One row per answer, in order: ``language, system, query_id, text`` (without citations); of
        each of ``FAULT_TESTS`` 1 or 0, and of the amounts the number, NaN where that cannot be
        told; ``open end``, see ``has_open_end``;
        ``stock``, 1 for the sentence that its system gives most often, twice or more; and
        ``misplaced``, 1 for an answer that is more like another question and its passages.
    """
    memo = Memo()
    samples = []
    for question, output in answers_of(arena, answers):
        samples.append(Sample(question, output, memo))
    table = answers[ANSWER_KEY].reset_index(drop=True)
    table["text"] = pd.Series([sample.text.strip() for sample in samples], dtype="str")
    for name, test in FAULT_TESTS.items():
        if test.measure is not None:
            table[name] = [test.measure(sample) for sample in samples]
    for name in amounts:
        table[name] = [AMOUNT_TESTS[name].measure(sample) for sample in samples]
    table["open end"] = [has_open_end(sample) for sample in samples]
    is_stock = is_most_frequent_or_empty(table["text"], table["system"])
    has_prose = table["text"].map(is_prose)
    # Across languages an answer is like no question.
    is_comparable = has_prose & (table["other language"] != 1)
    misplaced = _on_other_questions(arena.queries, table).where(is_comparable)
    # Short ones may well be all there is to say: "Yes".
    return table.assign(stock=is_stock.where(has_prose, 0.0), misplaced=misplaced)


def _on_other_questions(queries: pd.DataFrame, answers: pd.DataFrame) -> pd.Series:
    """Return 1 for answers that are far more like another question, 0 for others, NaN without one.

    A question is like an answer by the cosine of the n-grams of both, its passages included.
    """
    # How many times as like the other question is: longer answers are a little like many.
    far_more = 1.5
    is_misplaced = pd.Series(np.nan, answers.index)
    for language, questions in queries.groupby("language"):
        rows = answers[answers["language"] == language]
        if rows.empty or len(questions) == 1:
            continue
        texts = []
        for query, passages in zip(questions["query"], questions["passages"], strict=True):
            texts.append("\n".join([query, *(passage["text"] for passage in passages)]))
        counts = hashed(texts)
        weights = document_weights(counts)
        vectors = unit_rows(hashed(list(rows["text"])), weights)
        # No rounding error may make a cosine larger than its equal.
        cosines = (vectors @ unit_rows(counts, weights).T).toarray().round(9)
        answered = pd.Index(questions["query_id"]).get_indexer(rows["query_id"])
        at_question = (np.arange(len(rows)), answered)
        own_cosines = cosines[at_question]
        cosines[at_question] = 0.0
        is_elsewhere = cosines.max(axis=1) > far_more * own_cosines
        is_misplaced[rows.index] = is_elsewhere.astype(np.float64)
    return is_misplaced


def _is_twice(sample: Sample) -> bool:
    """Return whether the second half of an answer is the first, word for word."""
    half, is_odd = divmod(len(sample.folded_words), 2)
    is_same = not is_odd and sample.folded_words[:half] == sample.folded_words[half:]
    return is_same and is_prose(sample.text)


def _has_paragraph_twice(text: str) -> bool:
    """Return whether a long paragraph stands in a text twice, word for word."""
    # Words of a paragraph that nobody writes twice; twice as many parts of words
    long_paragraph = 40
    paragraphs = set()
    for line in text.splitlines():
        paragraph = line.strip()
        if paragraph in paragraphs:
            return True
        tokens = words(paragraph)
        if len(tokens) >= long_paragraph * tokens_per_word(tokens):
            paragraphs.add(paragraph)
    return False


def _number(flag: bool | None) -> float:
    return np.nan if flag is None else float(flag)


def _value(value: Value) -> float:
    return np.nan if isinstance(value, Missing) else float(value)
