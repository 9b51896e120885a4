"""Texts that a system gives as the answer to several questions, as they are or but for a word."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

import numpy as np
import pandas as pd

from arena.data.types import Flags, Indices
from features.declare.sample import Question
from features.text.tokens import folded_words, tokens_per_word
from surrogate.checks.rules import refuses
from surrogate.learning.answer_texts import mixed


def same_texts(table: pd.DataFrame) -> Flags:
    """Flag texts that a system gives to many different questions, unless they refuse.

    Args:
        table: Columns ``language, system, text, query``, N rows.
    """
    # Different questions from which one text is said to be the answer to many
    many = 5
    keys = ["language", "system", "text"]
    is_same = table.groupby(keys)["query"].transform("nunique") >= many
    for text, language in table.loc[is_same, ["text", "language"]].drop_duplicates().to_numpy():
        if refuses(text, language):
            is_same &= ~((table["text"] == text) & (table["language"] == language))
    return np.asarray(is_same)


def varied_texts(table: pd.DataFrame, questions: Sequence[Question]) -> Flags:
    """Flag texts that are a system's answer to a different question but for one word.

    A word that the question or one of its passages has is what was asked for, not a variation.

    Args:
        table: As for ``same_texts``.
        questions: The question of each row.
    """
    # Words from which a text is more than a form with a gap; twice as many parts of words
    fewest = 12
    texts = [folded_words(text) for text in table["text"]]
    gaps = _texts_with_a_gap(texts, table.groupby(["language", "system"]).ngroup().to_numpy())
    gaps["query"] = table["query"].to_numpy()[gaps["row"]]
    by_key = gaps.groupby("key")
    n_words = by_key["word"].transform("nunique")
    n_questions = by_key["query"].transform("nunique")
    varied = gaps.loc[(n_words > 1) & (n_questions > 1), ["row", "place"]]
    flags = np.zeros(len(texts), dtype=bool)
    for row, place in varied.itertuples(index=False, name=None):
        words = texts[row]
        is_long = len(words) >= fewest * tokens_per_word(words)
        flags[row] |= is_long and not _has_word(questions[row], words[place])
    return flags


def _texts_with_a_gap(texts: Sequence[Sequence[str]], systems: Indices) -> pd.DataFrame:
    """List the words without which a text is the same as another of its system.

    Returns:
        Columns ``row`` of the text, ``place`` and ``word`` (its number), and ``key``, which is the
        same for the same text around the word.
    """
    lengths = np.array([len(words) for words in texts], dtype=np.intp)
    rows = np.repeat(np.arange(len(texts)), lengths)
    words = pd.factorize(np.array(list(chain.from_iterable(texts)), dtype=object))[0]
    starts = np.cumsum(lengths) - lengths
    places = np.arange(len(words)) - starts[rows]
    # A text is the sum of its words at their places: less one word, it is the text with a gap.
    terms = mixed(mixed(places.astype(np.uint64)) + words.astype(np.uint64))
    sums = mixed(systems.astype(np.uint64))
    np.add.at(sums, rows, terms)
    keys = mixed(sums[rows] - terms) + places.astype(np.uint64)
    gaps = pd.DataFrame({"key": keys, "row": rows, "place": places, "word": words})
    return gaps[gaps["key"].duplicated(keep=False)]


def _has_word(question: Question, word: str) -> bool:
    """Return whether a question or its passages have a word."""
    texts = [question.query, *(passage.text for passage in question.passages)]
    return any(word in folded_words(text) for text in texts)
