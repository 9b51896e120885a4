"""A feature: the share of digits in an answer."""

from features import EMPTY_ANSWER, Feature, Sample, Value


def digit_share(sample: Sample) -> Value:
    """Share of digits among the answer's characters."""
    if not sample.text:
        return EMPTY_ANSWER  # missing, with a reason; never 0
    return sum(map(str.isdigit, sample.text)) / len(sample.text)


DIGIT_SHARE = Feature(
    name="digit_share",
    summary="Share of digits among the answer's characters",
    source="arena-example",
    needs=("answer",),
    measurement=digit_share,
)
