"""Is the answer well-formed text? Told from its characters, without a language model.

All features look at the answer part without citations, and mean the same in every script.
"""

from __future__ import annotations

from collections.abc import Sequence

from features.debris import count_debris, count_unreadable
from features.endings import breaks_off, writes_full_stops
from features.feature import Feature, Value
from features.missing import EMPTY_ANSWER, NO_FULL_STOPS, NO_LETTERS
from features.ngrams import word_ngrams
from features.sample import Sample
from features.scripts import expected_scripts, foreign_letters
from features.tokens import is_part_of_word

RUN = 4
"""Words in a row that make a repetition."""

LONG_RUN = 8
"""The same for characters, syllables and graphemes, where these are cut as words."""


def repetition(sample: Sample) -> Value:
    """Return the share of words in a run of words that has stood in the answer before.

    A run is four words, or eight where most are characters, syllables or graphemes (Chinese,
    Japanese, Korean, Thai). Case does not count. Near 1 for an answer that loops.
    """
    words = sample.folded_words
    if not words:
        return EMPTY_ANSWER
    parts = sum(map(is_part_of_word, words))
    return sum(_repeated(words, LONG_RUN if 2 * parts > len(words) else RUN)) / len(words)


def truncated_ending(sample: Sample) -> Value:
    """Return 1 if the answer ends without the mark that ends a sentence, else 0.

    A bare phrase (``Paris``) ends without it too. See ``features.endings`` for lists, quotes,
    code. Thai and Lao have no such mark: the script of the last letter decides.
    """
    if not sample.text:
        return EMPTY_ANSWER
    return float(breaks_off(sample.text)) if writes_full_stops(sample.text) else NO_FULL_STOPS


def script_mixing(sample: Sample) -> Value:
    """Return the share of letters in scripts that the answer should not use.

    It may use the scripts of the language and of the question, and Latin: names and terms are
    written in Latin letters everywhere.
    """
    question = sample.question
    scripts = sample.memo.get(
        ("scripts", question.language, question.query),
        lambda: expected_scripts(question.language, question.query),
    )
    foreign, letters = foreign_letters(sample.text, scripts)
    return foreign / letters if letters else NO_LETTERS


def markup_debris(sample: Sample) -> Value:
    """Return the number of leftovers of prompts, templates and markup in the answer."""
    return float(count_debris(sample.text))


def unreadable_characters(sample: Sample) -> Value:
    """Return the share of characters that are replacements, surrogates, controls or private."""
    text = sample.text
    return count_unreadable(text) / len(text) if text else EMPTY_ANSWER


def _repeated(words: Sequence[str], length: int) -> list[bool]:
    """Return for each word whether it is in a run of so many words seen before."""
    repeated = [False] * len(words)
    seen: set[tuple[str, ...]] = set()
    for start, run in enumerate(word_ngrams(words, length)):
        if run in seen:
            repeated[start : start + length] = [True] * length
        seen.add(run)
    return repeated


REPETITION = Feature(
    name="repetition",
    summary="Share of the words in a run of four words that stood before",
    source="after Welleck et al. 2020, seq-rep-4",
    needs=("answer",),
    measurement=repetition,
    missing=(EMPTY_ANSWER,),
)
TRUNCATED_ENDING = Feature(
    name="truncated_ending",
    summary="1 if the answer ends without a full stop or the like, else 0",
    source="surrogate-arena",
    needs=("answer",),
    measurement=truncated_ending,
    missing=(EMPTY_ANSWER, NO_FULL_STOPS),
)
SCRIPT_MIXING = Feature(
    name="script_mixing",
    summary="Share of the letters in scripts other than the language's and Latin",
    source="surrogate-arena",
    needs=("answer",),
    measurement=script_mixing,
    missing=(NO_LETTERS,),
)
MARKUP_DEBRIS = Feature(
    name="markup_debris",
    summary="Number of leftovers of prompts, chat templates and markup",
    source="surrogate-arena",
    needs=("answer",),
    measurement=markup_debris,
)
UNREADABLE_CHARACTERS = Feature(
    name="unreadable_characters",
    summary="Share of the characters that are controls, private or replacements",
    source="surrogate-arena",
    needs=("answer",),
    measurement=unreadable_characters,
    missing=(EMPTY_ANSWER,),
)

FLUENCY_FEATURES = (
    *(REPETITION, TRUNCATED_ENDING, SCRIPT_MIXING, MARKUP_DEBRIS, UNREADABLE_CHARACTERS),
)
