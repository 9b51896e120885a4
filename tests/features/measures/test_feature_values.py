"""Values of deterministic features, worked out by hand, on answers in ten scripts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sentences import SENTENCES

from arena import Passage
from features import Question, Sample, parse_features
from features.declare.sample import Missing
from features.measures.registry import FEATURES, GROUPS

JUDGED = (("1", 1), ("2", 0), ("3", 1), ("4", None))

CITATION_FEATURES = [
    FEATURES[name]
    for name in (
        *("citation_recall", "citation_map", "citation_precision", "citations"),
        *("invalid_citations", "invalid_citation_share", "citation_density", "cited_sentences"),
    )
]
OVERLAP_FEATURES = (FEATURES["bleu"], FEATURES["rouge_l"])
IDENTIFIED = (
    *(FEATURES["target_language"], FEATURES["english"]),
    *parse_features("target_language(part=reason),english(part=reason)"),
)
ALL = (
    *CITATION_FEATURES,
    *OVERLAP_FEATURES,
    *GROUPS["fluency"],
    FEATURES["answer_length"],
    *IDENTIFIED,
)


def sample(output, language, reference="a reference answer", passages=JUDGED):
    records = tuple(
        Passage(passage_id=name, text="…", relevance=relevance) for name, relevance in passages
    )
    return Sample(Question(language, "q", "?", records, reference), output)


# Passages 1 and 3 are relevant. Columns: recall@10, map@10, precision, citations, invalid
# citations, invalid share, density (mentions per word), cited sentences.
CITED = {
    # Ranking 2, 1: 1 of 2 found, at rank 2. Two mentions on four words, in one of two sentences.
    ("en", "Paris is big [2][1]. Yes."): (1 / 2, (1 / 2) / 2, 1 / 2, 2, 0, 0.0, 2 / 4, 1 / 2),
    # Ranking 3, 1, both relevant; no passage has 9. Two known mentions on two words.
    ("ru", "Это Париж [3] [9] [1]."): (1.0, 1.0, 2 / 3, 2, 1, 1 / 3, 2 / 2, 1.0),
    # Arabic digits: 2, 3. Two words.
    ("ar", "العاصمة باريس [٢، ٣]."): (1 / 2, (1 / 2) / 2, 1 / 2, 2, 0, 0.0, 2 / 2, 1.0),
    # Devanagari digits: 1, then 7, which no passage has. One known mention on three words.
    ("hi", "राजधानी पेरिस है [१] [७]।"): (1 / 2, 1 / 2, 1 / 2, 1, 1, 1 / 2, 1 / 3, 1.0),
    # Full-width brackets and digits: 1, 3. Two mentions on four characters, in one sentence of two.
    ("zh", "首都【１】【３】。很大。"): (1.0, 1.0, 1.0, 2, 0, 0.0, 2 / 4, 1 / 2),
    # A range: 1, 2, 3; relevant at ranks 1 and 3. Three mentions on four characters.
    ("ja", "パリです[1-3]。"): (1.0, (1 + 2 / 3) / 2, 2 / 3, 3, 0, 0.0, 3 / 4, 1.0),
    # The same passage twice: one citation, two mentions, on five syllables in two sentences.
    ("ko", "수도[4]. 파리다[4]."): (0.0, 0.0, 0.0, 1, 0, 0.0, 2 / 5, 1.0),
    # Thai digit 3; the graphemes are เ มื อ ง.
    ("th", "เมือง [๓]"): (1 / 2, 1 / 2, 1.0, 1, 0, 0.0, 1 / 4, 1.0),
    # Only an unknown id.
    ("te", "రాజధాని పారిస్ [౮]."): (0.0, 0.0, 0.0, 0, 1, 1.0, 0.0, 0.0),
    # Bengali digits 1 and 2, in two sentences; four words.
    ("bn", "রাজধানী প্যারিস [১]। এটি বড় [২]।"): (1 / 2, 1 / 2, 1 / 2, 2, 0, 0.0, 2 / 4, 1.0),
}


@pytest.mark.parametrize(("language", "output"), CITED)
def test_citations(language, output):
    measured = [feature.measure(sample(output, language)) for feature in CITATION_FEATURES]
    assert measured == pytest.approx(CITED[language, output], abs=1e-12)


@given(
    output=st.text(st.characters(), max_size=80),
    reference=st.text(st.characters(), max_size=40),
    code=st.sampled_from([*SENTENCES, "xx"]),
)
def test_any_text_has_a_value_or_a_reason(output, reference, code):
    check(output, code, reference)


def check(output, language, reference):
    """``measure`` itself refuses values that are no numbers."""
    given = sample(output, language, reference)
    for feature in ALL:
        value = feature.measure(given)
        assert isinstance(value, (float, Missing))
