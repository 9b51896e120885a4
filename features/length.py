"""How long is the answer?"""

from __future__ import annotations

from features.feature import Feature, Value
from features.sample import Sample


def answer_length(sample: Sample) -> Value:
    """Return the number of words of the answer part without citations."""
    return float(len(sample.words))


ANSWER_LENGTH = Feature(
    name="answer_length",
    summary="Words of the answer: characters in Chinese and Japanese, syllables in Korean",
    source="surrogate-arena",
    needs=("answer",),
    measurement=answer_length,
)
