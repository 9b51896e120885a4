"""Text taken from a judged answer or the question, word for word.

Answers are compared by runs of letters without anything between them. So neither other spaces and
punctuation nor tags hide a sentence of another's, and a single sentence shows in a long answer. An
ordinary text shares phrases with others, but few as long as a run.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

import numpy as np
import pandas as pd

from arena.data.types import Flags, Floats, Indices
from surrogate.checks.likeness import FEWEST_JUDGED
from surrogate.checks.word_hashes import (
    Hashes,
    hashed_runs,
    is_among,
    is_of_others,
    largest_counts,
    of_questions,
)

LENGTH = 24
"""Letters of a run: about five words."""
WINDOW = 6
"""Length, in runs, of a stretch of text in which a copied sentence shows."""


def measure_runs(
    letters: Sequence[str],
    rows: pd.DataFrame,
    is_judged: Flags,
    questions: Sequence[str],
    passages: Sequence[str],
) -> pd.DataFrame:
    """Measure how far answers consist of runs of letters of judged answers, and of the question.

    Args:
        letters: Those of each of N answers in one language.
        rows: By answer: ``system`` and the number of its ``question``.
        is_judged: Whether it is a judged system's, shape (N,).
        questions: Letters of each question.
        passages: Letters of the passages that judged systems were shown: quoting them is no
            copying.

    Returns:
        By answer: ``verbatim``, the share of a stretch as long as ``WINDOW`` runs that runs of
        other systems' judged answers to the same question fill, where it is largest; ``asked``,
        the share of the question's runs that it has. Both as if all questions were alike; NaN where
        too few judged systems answered, or a question has no run.
    """
    # One run in so many is looked at, chosen by its letters: a sentence has dozens of them
    sampled = 4
    judged_letters = [text for text, flag in zip(letters, is_judged, strict=True) if flag]
    length = _run_length(judged_letters)
    runs, owners = letter_runs(letters, length)
    answered = rows["question"].to_numpy()
    keys = of_questions(runs, answered[owners])
    asked = _asked_shares(keys, owners, answered, questions, length)

    is_sampled = runs % np.uint64(sampled) == 0
    owners = owners[is_sampled]
    systems = pd.factorize(rows["system"])[0]
    is_others = is_of_others(keys[is_sampled], systems[owners], is_judged[owners])
    passage_runs, _ = letter_runs(passages, length)
    is_taken = is_others & ~is_among(runs[is_sampled], passage_runs)
    window = WINDOW * length // sampled
    # A short answer counts as a full stretch: few letters may well be the only ones to write.
    verbatim = largest_counts(is_taken, owners, window, len(letters)) / window
    shares = pd.DataFrame({"verbatim": verbatim, "asked": asked}, rows.index)
    return _as_if_alike(shares, rows["question"], is_judged)


def _as_if_alike(shares: pd.DataFrame, questions: pd.Series, is_judged: Flags) -> pd.DataFrame:
    """Measure shares from what is typical of judged answers to their question.

    Questions differ in how alike their answers are, and a system may have answered only some.
    """
    judged = shares[is_judged].groupby(questions[is_judged])
    medians = judged.median()[judged.size() >= FEWEST_JUDGED]
    typical = medians.reindex(questions).set_index(shares.index)
    return shares - typical + typical.mean()


def letter_runs(texts: Sequence[str], length: int) -> tuple[Hashes, Indices]:
    """Return a hash of the letters from each letter on, and the index of its text."""
    codes = _code_points(texts)
    owners = np.repeat(np.arange(len(texts)), [len(text) for text in texts])
    return hashed_runs(codes, owners, range(length))


def _code_points(texts: Sequence[str]) -> Hashes:
    data = "".join(texts).encode("utf-32-le", "surrogatepass")
    return np.frombuffer(data, dtype="<u4").astype(np.uint64)


def _run_length(texts: Sequence[str]) -> int:
    """Choose the letters of a run by the script that most letters are of."""
    # In Chinese, Japanese and Korean a letter is a word or a syllable.
    wide_length = 10
    codes, counts = np.unique(_code_points(texts), return_counts=True)
    widths = [unicodedata.east_asian_width(chr(int(code))) for code in codes]
    is_wide = np.isin(widths, ["W", "F"])
    return wide_length if 2 * counts[is_wide].sum() > counts.sum() else LENGTH


def _asked_shares(
    keys: Hashes, owners: Indices, answered: Indices, questions: Sequence[str], length: int
) -> Floats:
    """Return the share of its question's runs that each answer has, shape (N,).

    Args:
        keys: Runs of the answers with their question.
        owners: The answer of each.
        answered: Number of each answer's question, shape (N,).
        questions: Letters of each question.
        length: Letters of a run.
    """
    runs, question_of_run = letter_runs(questions, length)
    asked_keys, indices = np.unique(of_questions(runs, question_of_run), return_index=True)
    n_asked = np.bincount(question_of_run[indices], minlength=len(questions))
    is_asked = is_among(keys, asked_keys)
    repeated = pd.DataFrame({"key": keys[is_asked], "owner": owners[is_asked]}).drop_duplicates()
    n_repeated = np.bincount(repeated["owner"], minlength=len(answered))
    n_runs = n_asked[answered]
    return np.where(n_runs > 0, n_repeated / np.maximum(n_runs, 1), np.nan)
