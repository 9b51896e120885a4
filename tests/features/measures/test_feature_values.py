"""Values of deterministic features, worked out by hand, on answers in ten scripts."""

from math import exp

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sentences import SENTENCES

from arena import Passage
from features import Question, Sample, parse_features
from features.declare.sample import NO_FULL_STOPS, Missing
from features.measures.registry import FEATURES, GROUPS

JUDGED = (("1", 1), ("2", 0), ("3", 1), ("4", None))

CITATION_FEATURES = (
    *(
        FEATURES["citation_recall"],
        FEATURES["citation_map"],
        FEATURES["citation_precision"],
        FEATURES["citations"],
        FEATURES["invalid_citations"],
    ),
    *(
        FEATURES["invalid_citation_share"],
        FEATURES["citation_density"],
        FEATURES["cited_sentences"],
    ),
)
OVERLAP_FEATURES = (FEATURES["bleu"], FEATURES["rouge_l"], FEATURES["chrf"])
IDENTIFIED = (
    *(FEATURES["target_language"], FEATURES["english"]),
    *parse_features("target_language(identifier=langid),english(identifier=langid)"),
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

# Answer, reference; BLEU on words and marks, ROUGE-L on words, chrF2 on characters.
# ROUGE-L is 2 · common / (words of the answer + words of the reference).
# chrF2 is 5PR / (4P + R), P and R the mean shares of matched 1- to 6-grams.
OVERLAPPING = {
    # 3/3, 2/2, 1/1 and a brevity penalty of exp(1 - 4/3). Of "thecatsat" (9), all n-grams are in
    # "thecatsatdown" (13): P = 1, R = mean of 9/13, 8/12, 7/11, 6/10, 5/9, 4/8.
    ("en", "the cat sat", "the cat sat down"): (
        exp(1 - 4 / 3),
        2 * 3 / (3 + 4),
        (1.0, (9 / 13 + 8 / 12 + 7 / 11 + 6 / 10 + 5 / 9 + 4 / 8) / 6),
    ),
    # Tokens А . of А . Б: 2/2 and 1/1 in two orders, penalty exp(1 - 3/2). Characters the same.
    ("ru", "А.", "А. Б"): (exp(1 - 3 / 2), 2 * 1 / (1 + 2), (1.0, (2 / 3 + 1 / 2) / 2)),
    # One word of two; no bigram: (1/2 · 1/(2·1))^(1/2). 4 + 4 of 9 and 8 characters; see below.
    ("ar", "في مصر", "في عمان"): (
        (1 / 2 * 1 / 2) ** (1 / 2),
        2 * 1 / (2 + 2),
        # فيمصر (5), فيعمان (6). Of ف ي م ص ر, three are shared; of five bigrams في only.
        ((3 / 5 + 1 / 4) / 5, (3 / 6 + 1 / 5) / 5),
    ),
    # Two words of three; है is two characters. Unigrams 2/3, no bigram or trigram: 1/4, 1/4.
    ("hi", "क ख है", "क ग है"): (
        (2 / 3 * 1 / 4 * 1 / 4) ** (1 / 3),
        2 * 2 / (3 + 3),
        # कखह + ै (4), कगह + ै (4): three shared, one bigram.
        ((3 / 4 + 1 / 3) / 4, (3 / 4 + 1 / 3) / 4),
    ),
    # 北 京 大 in 北 京 很 大: 3/3, 1/2, and 0/1 smoothed to 1/2; penalty exp(1 - 4/3).
    ("zh", "北京大", "北京很大"): (
        exp(1 - 4 / 3) * (1 * 1 / 2 * 1 / 2) ** (1 / 3),
        2 * 3 / (3 + 4),
        ((3 / 3 + 1 / 2 + 0) / 3, (3 / 4 + 1 / 3 + 0) / 3),
    ),
    # パ リ で す against パ リ だ: 2/4, 1/3, 0/2 smoothed to 1/4, 0/1 to 1/4.
    ("ja", "パリです", "パリだ"): (
        (2 / 4 * 1 / 3 * 1 / 4 * 1 / 4) ** (1 / 4),
        2 * 2 / (4 + 3),
        ((2 / 4 + 1 / 3 + 0) / 3, (2 / 3 + 1 / 2 + 0) / 3),
    ),
    # 서 울 은 against 서 울 이: 2/3, 1/2, 0/1 smoothed to 1/2.
    ("ko", "서울은", "서울이"): (
        (2 / 3 * 1 / 2 * 1 / 2) ** (1 / 3),
        2 * 2 / (3 + 3),
        ((2 / 3 + 1 / 2 + 0) / 3, (2 / 3 + 1 / 2 + 0) / 3),
    ),
    # ดี against ดี ม า ก: 1/1, penalty exp(1 - 4/1). Characters ด ี of five.
    ("th", "ดี", "ดีมาก"): (exp(1 - 4), 2 * 1 / (1 + 4), (1.0, (2 / 5 + 1 / 4) / 2)),
    # Nothing in common.
    ("te", "అవును", "కాదు"): (0.0, 0.0, None),
    ("bn", "", "ঢাকা"): (0.0, 0.0, (0.0, 0.0)),
}

# Words; repetition, truncation, script mixing, markup artifacts, unreadable characters.
WRITTEN = {
    # Words 5 to 8 repeat 1 to 4.
    ("en", "It is so big. It is so big"): (8, 4 / 8, 1.0, 0.0, 0, 0.0),
    # Six letters of six plus two that are Han.
    ("ru", "Москва 北京."): (3, 0.0, 0.0, 2 / 8, 0, 0.0),
    # A marker of a chat template; its letters are Latin.
    ("ar", "نعم.<|im_end|>"): (3, 0.0, 1.0, 0.0, 1, 0.0),
    # One replacement character of nine: four letters, two vowel signs, space, mark, danda.
    ("hi", "बड़ा है\ufffd।"): (2, 0.0, 0.0, 0.0, 0, 1 / 9),
    # Eight characters repeated; Latin letters are at home.
    ("zh", "北京是中国的首都，北京是中国的首都 OK"): (17, 8 / 17, 1.0, 0.0, 0, 0.0),
    # ー belongs to all scripts. Two letters of nine are Cyrillic; bold is not closed.
    ("ja", "**タワーは大きい да"): (8, 0.0, 1.0, 2 / 9, 1, 0.0),
    # Two letters of five are Han, which Korean seldom writes.
    ("ko", "서울은 首都."): (5, 0.0, 0.0, 2 / 5, 0, 0.0),
    # No full stops; a tag, which counts as a word beside four graphemes.
    ("th", "<br>ดีมาก"): (5, 0.0, NO_FULL_STOPS, 0.0, 1, 0.0),
}


@pytest.mark.parametrize(("language", "output"), CITED)
def test_citations(language, output):
    measured = [feature.measure(sample(output, language)) for feature in CITATION_FEATURES]
    assert measured == pytest.approx(CITED[language, output], abs=1e-12)


@pytest.mark.parametrize(("language", "answer", "reference"), OVERLAPPING)
def test_overlap(language, answer, reference):
    bleu, rouge_l, shares = OVERLAPPING[language, answer, reference]
    expected = [bleu, rouge_l]
    given = sample(answer, language, reference)
    assert [FEATURES["bleu"].measure(given), FEATURES["rouge_l"].measure(given)] == pytest.approx(
        expected, abs=1e-12
    )
    if shares is not None:
        precision, recall = shares
        both = 4 * precision + recall
        chrf = 5 * precision * recall / both if both else 0.0
        assert FEATURES["chrf"].measure(given) == pytest.approx(chrf, abs=1e-12)


@pytest.mark.parametrize(("language", "output"), WRITTEN)
def test_length_and_fluency(language, output):
    features = (
        *(
            FEATURES["answer_length"],
            FEATURES["repetition"],
            FEATURES["truncation"],
            FEATURES["script_mixing"],
            FEATURES["markup_artifacts"],
        ),
        FEATURES["unreadable_characters"],
    )
    measured = [feature.measure(sample(output, language)) for feature in features]
    assert measured == list(WRITTEN[language, output])


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
