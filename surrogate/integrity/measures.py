"""What is looked at in an answer: each measure rises with one kind of tampering."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from surrogate.integrity.damage import (
    CUT,
    EMPTIED,
    OTHER_QUESTIONS,
    PASTED,
    QUESTION_REPEATED,
    REPEATED,
    SHUFFLED,
    STUFFED,
    WRONG_NUMBERS,
)
from surrogate.integrity.evidence import ECHOED, Evidence, copied_words
from surrogate.integrity.references import References
from surrogate.integrity.texts import AnswerBatch, Floats, among, keyed, mean_of

FEWEST_PAIRS = 3
REPEATED_WORDS = 5
NEXT_TO_NOTHING = 0.2
"""Share of the others' usual length below which an answer is next to nothing."""
TAMPERED = 0.3
"""Share of the way to damaged answers from which what no ordinary system does is grave."""
LOOPING = 0.4
"""The same of repetition: models that loop repeat a third of their text."""
MOSTLY = 0.75
"""The same of what ordinary systems do, too: stop short, quote passages, get numbers wrong."""
SHORT_TEXT = 20
"""Words added to an answer's, so that one citation of one word is not taken for many."""


@dataclass(frozen=True)
class Measure:
    """A number of an answer that rises with one kind of tampering.

    Attributes:
        name: Its name.
        sentence: What is wrong where it is high; ``{}`` stands for a share.
        damage: The kind of damage that it is calibrated by.
        values: Function of answers, references and evidence; shape (N,), NaN where not measurable.
        grave: Share of the way to damaged answers from which a system is not to be ranked.
        is_relative: Whether the sentence's share is that of the way to damaged answers, rather
            than the system's mean.
        is_named: Whether it is noted however common it is among real systems.
    """

    name: str
    sentence: str
    damage: str
    values: Callable[[AnswerBatch, References, Evidence], Floats]
    grave: float = TAMPERED
    is_relative: bool = False
    is_named: bool = False


def _off_question(batch: AnswerBatch, known: References, _evidence: Evidence) -> Floats:
    return known.nearer(known.vectors(batch), batch.questions)


def _disorder(batch: AnswerBatch, known: References, _evidence: Evidence) -> Floats:
    codes, owners = known.pair_codes(batch)
    means = mean_of(-known.order[codes], owners, len(batch.texts))
    enough = np.bincount(owners, minlength=len(batch.texts)) >= FEWEST_PAIRS
    return np.where(enough, means, np.nan)


def _echo(batch: AnswerBatch, _known: References, evidence: Evidence) -> Floats:
    pairs, starts = batch.words.ngrams(ECHOED)
    owners = batch.words.owners[starts]
    found = among(keyed(pairs, batch.questions[owners]), evidence.questions)
    return mean_of(found.astype(np.float64), owners, len(batch.texts))


def _repetition(batch: AnswerBatch, _known: References, _evidence: Evidence) -> Floats:
    runs, starts = batch.words.ngrams(REPEATED_WORDS)
    owners = batch.words.owners[starts]
    _, first = np.unique(keyed(runs, owners), return_index=True)
    again = np.ones(len(runs))
    again[first] = 0.0
    return mean_of(again, owners, len(batch.texts))


def _emptiness(batch: AnswerBatch, known: References, _evidence: Evidence) -> Floats:
    answers = known.answers[batch.questions]
    usual = np.divide(
        *(known.lengths[batch.questions], answers),
        out=np.full(len(answers), np.nan),
        where=answers > 0,
    )
    is_short = batch.log_lengths < usual + np.log(NEXT_TO_NOTHING)
    return np.where(np.isfinite(usual), is_short.astype(np.float64), np.nan)


def _breaking_off(batch: AnswerBatch, _known: References, _evidence: Evidence) -> Floats:
    return batch.broken_off


def _copying(batch: AnswerBatch, _known: References, evidence: Evidence) -> Floats:
    shares = batch.words.shares(copied_words(batch.words, batch.questions, evidence))
    return np.where(evidence.has_passages[batch.questions], shares, np.nan)


def _unknown_numbers(batch: AnswerBatch, known: References, evidence: Evidence) -> Floats:
    hashes, owners = batch.numbers
    keys = keyed(hashes, batch.questions[owners])
    unknown = ~(among(keys, evidence.numbers) | among(keys, known.numbers))
    return mean_of(unknown.astype(np.float64), owners, len(batch.texts), missing=np.nan)


def _citing(batch: AnswerBatch, _known: References, evidence: Evidence) -> Floats:
    words = np.bincount(batch.words.owners, minlength=len(batch.texts))
    density = batch.citations / (words + SHORT_TEXT)
    return np.where(evidence.has_passages[batch.questions], density, np.nan)


MEASURES = (
    Measure(
        "other_questions",
        "{} of its answers fit other questions better than their own",
        OTHER_QUESTIONS,
        _off_question,
        is_relative=True,
    ),
    Measure(
        "word_order",
        "its words stand in no order of the language: {} of the way to shuffled words",
        SHUFFLED,
        _disorder,
        is_relative=True,
    ),
    Measure("question", "{} of its text repeats the question", QUESTION_REPEATED, _echo),
    Measure("repetition", "{} of its text is repeated", REPEATED, _repetition, LOOPING),
    Measure("empty", "{} of its answers are empty or next to nothing", EMPTIED, _emptiness, MOSTLY),
    Measure("cut", "{} of its answers break off", CUT, _breaking_off, MOSTLY),
    Measure(
        "passages",
        "{} of its text is copied from the passages",
        PASTED,
        _copying,
        MOSTLY,
        is_named=True,
    ),
    Measure(
        "numbers",
        "{} of its numbers are in no passage, question or other answer",
        WRONG_NUMBERS,
        _unknown_numbers,
        MOSTLY,
    ),
    Measure(
        "citations",
        "it cites far more than the others do: {} of the way to a citation of everything",
        STUFFED,
        _citing,
        is_relative=True,
    ),
)
"""What is looked at, in the order in which arrays hold it."""


def measured(batch: AnswerBatch, known: References, evidence: Evidence) -> Floats:
    """Return all measures of answers, shape (N, M)."""
    return np.column_stack([measure.values(batch, known, evidence) for measure in MEASURES])
