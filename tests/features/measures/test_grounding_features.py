import math
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena import Passage
from features import Missing, Question, Sample
from features.declare.sample import (
    EMPTY_ANSWER,
    EMPTY_PASSAGES,
    NO_CAPITALS,
    NO_CITED_PASSAGES,
    NO_KNOWN_QUERY_WORDS,
    NO_NAMES,
    NO_NUMBERS,
    NO_PASSAGES,
    NO_REFERENCE_SYSTEM,
    SHORT_ANSWER,
    Memo,
)
from features.measures.facts import numbers_in
from features.measures.grounding import PassageIndex
from features.measures.registry import GROUPS
from features.text.tokens import folded_words

BY_NAME = {feature.name: feature for feature in GROUPS["grounding"]}
SHARES = [name for name in BY_NAME if name not in ("fragment_density", "longest_common_span")]
HELD = [name for name in BY_NAME if name != "query_coverage"]


def make_sample(answer, passages, language="en", query="?", memo=None):
    """Passages are texts, with ids from 1, or (id, text) pairs."""
    pairs = [
        passage if isinstance(passage, tuple) else (str(number), passage)
        for number, passage in enumerate(passages, start=1)
    ]
    records = tuple(Passage(passage_id=name, text=text) for name, text in pairs)
    question = Question(language, "q", query, records, NO_REFERENCE_SYSTEM)
    return Sample(question, answer, memo or Memo())


def measure(name, sample, **settings):
    return BY_NAME[name].with_settings(settings).measure(sample)


def weight(total, holding):
    return math.log(1 + (total - holding + 0.5) / (holding + 0.5))


# Answer and passages; n-gram coverage at 2, fragment coverage and density, longest common span.
SCRIPTS = [
    ("en", "The cat sat here", ["a cat sat down", "the dog"], 1 / 3, 3 / 4, 5 / 4, 2),
    ("de", "Über MÜNCHEN hinaus", ["über münchen"], 1 / 2, 2 / 3, 4 / 3, 2),
    ("ru", "Париж столица Франции", ["столица франции Париж"], 1 / 2, 1, 5 / 3, 2),
    ("ar", "عاصمة فرنسا باريس", ["عاصمة فرنسا", "مدينة"], 1 / 2, 2 / 3, 4 / 3, 2),
    ("fa", "پایتخت فرانسه", ["پایتخت ایران"], 0, 1 / 2, 1 / 2, 1),
    ("hi", "राजधानी पेरिस है।", ["पेरिस है बड़ा"], 1 / 2, 2 / 3, 4 / 3, 2),
    ("bn", "রাজধানী ঢাকা", ["ঢাকা রাজধানী"], 0, 1, 1, 1),
    ("te", "రాజధాని పారిస్", ["రాజధాని పారిస్ నగరం"], 1, 1, 2, 2),
    ("zh", "北京很大。", ["北京大"], 1 / 3, 3 / 4, 5 / 4, 2),
    ("ja", "パリは首都", ["首都はパリ"], 2 / 4, 1, 9 / 5, 2),
    ("th", "ดีมาก", ["ดีใจมาก"], 2 / 3, 1, 10 / 4, 3),
    ("ko", "서울은 크다", ["서울이 크다"], 2 / 4, 4 / 5, 8 / 5, 2),
]


@pytest.mark.parametrize(
    ("language", "answer", "passages", "bigrams", "coverage", "density", "longest"), SCRIPTS
)
def test_copied_words_by_hand(language, answer, passages, bigrams, coverage, density, longest):
    cited = "".join(f"[{number}]" for number in range(1, len(passages) + 1))
    sample = make_sample(f"##Reason: {cited} ##Answer: {answer}", passages, language)
    expected = {
        "ngram_coverage": bigrams,
        "fragment_coverage": coverage,
        "fragment_density": density,
        "longest_common_span": longest,
    }
    assert {name: measure(name, sample) for name in expected} == pytest.approx(expected)
    assert measure("ngram_coverage", sample, k=1) == measure("fragment_coverage", sample)


def test_content_is_weighted_by_rarity_among_the_passages():
    passages = ["the river", "the bank", "the loan"]
    sample = make_sample("the the river money [1] [2]", passages)
    common, rare, unknown = (weight(3, holding) for holding in (3, 1, 0))
    total = common + rare + unknown
    assert measure("content_coverage", sample) == pytest.approx((common + rare) / total)
    sample = make_sample("the the river money [2]", passages)
    assert measure("content_coverage", sample) == pytest.approx(common / total)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1,000 1.000 1 000 1\u202f000 1'000 1’000 1000", ["1000"] * 7),
        ("١٬٠٠٠ १,००० ১০০০ １０００", ["1000"] * 4),
        ("10,00,000 and 1,000,000", ["1000000"] * 2),
        ("2.50 2,5 ٢٫٥ 2.5%", ["2.5"] * 4),
        ("0.125 00.5 007 2.0", ["0.125", "0.5", "7", "2"]),
        ("12.03.2020, 2020-03-12", ["12", "3", "2020", "2020", "3", "12"]),
        ("192.168.1.1 and 1,23,4567", ["192", "168", "1", "1", "1", "23", "4567"]),
        ("1. One\n2) Two 3\n- 4", ["3", "4"]),
        ("five ½ V 五 \ud800", []),
    ],
)
def test_numbers_however_they_are_written(text, expected):
    assert numbers_in(text) == expected


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("We saw Paris and PARIS [1].", 0),
        ("We saw Paris and Rome [1].", 1 / 2),
        ("We saw London [1]. London saw Berlin and I did.", 1),
        ("We asked Victor [1].", 0),
        ("Мы видели Москву [1].", 1),
        ("EMI是唱片公司 [1]", 1),
        ("Victor เป็นคนจาก Berlin [1]", 1 / 2),
        ("Yes, 東芝のTFT [1]。", 1),
    ],
)
def test_unsupported_names(answer, expected):
    sample = make_sample(answer, ["paris", "London Rome"], query="Who is Victor?")
    assert measure("unsupported_names", sample) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("name", "answer", "passages", "expected"),
    [
        *((name, "Some words [1].", [], NO_PASSAGES) for name in BY_NAME),
        *((name, "Some words.", ["words"], NO_CITED_PASSAGES) for name in HELD),
        *((name, "Some words [9].", ["words"], NO_CITED_PASSAGES) for name in HELD),
        *((name, "Some words [1].", ["", "words"], EMPTY_PASSAGES) for name in HELD),
        *((name, "[1]", ["words"], EMPTY_ANSWER) for name in BY_NAME),
        *((name, "!!! [1] \u200f", ["words"], EMPTY_ANSWER) for name in BY_NAME),
        ("query_coverage", "words", ["", "…"], EMPTY_PASSAGES),
        ("query_coverage", "words", ["other words"], NO_KNOWN_QUERY_WORDS),
        ("ngram_coverage", "Word [1].", ["word"], SHORT_ANSWER),
        ("unsupported_numbers", "No number [1].", ["1 2 3"], NO_NUMBERS),
        ("unsupported_names", "No name. Here [1].", ["a"], NO_NAMES),
        ("unsupported_names", "北京很大 [1]", ["北京"], NO_CAPITALS),
    ],
)
def test_a_missing_value_says_why(name, answer, passages, expected):
    assert measure(name, make_sample(answer, passages, query="Why?")) == expected


def test_the_reasoning_may_cite_for_the_whole_answer():
    sample = make_sample("##Reason: see [2] ##Answer: the bank", ["a river", "the bank"])
    assert measure("ngram_coverage", sample) == 1


WORDS = st.lists(st.sampled_from("abcde"), max_size=12)
PASSAGES = st.lists(WORDS.map(" ".join), min_size=1, max_size=5)


@given(answer=WORDS, passages=PASSAGES, data=st.data())
def test_the_index_finds_what_a_plain_search_finds(answer, passages, data):
    index = PassageIndex(passages)
    allowed = data.draw(st.integers(0, 2 ** len(passages) - 1))
    texts = [folded_words(text) for n, text in enumerate(passages) if allowed >> n & 1]
    runs = {tuple(text[i:j]) for text in texts for i, j in combinations(range(len(text) + 1), 2)}
    expected = [
        max((j - i for j in range(i, len(answer) + 1) if tuple(answer[i:j]) in runs), default=0)
        for i in range(len(answer))
    ]
    assert index.longest_matches(answer, allowed) == expected
    for word in "abcdef":
        holders = sum(1 << n for n, text in enumerate(passages) if word in text.split())
        assert index.holders(word) == holders


ODD = st.text("abAB1 .,[]12\n字कกا\u200f\x00\ud800#-٣", max_size=60)
SOME_ANSWER = ODD | st.lists(st.sampled_from(["A b. ", "b A 1", "[1]", "[2]"])).map("".join)


@given(answer=SOME_ANSWER, passages=st.lists(ODD, max_size=4), query=ODD)
def test_values_are_in_range_and_passages_may_come_in_any_order(answer, passages, query):
    pairs = [(str(number), text) for number, text in enumerate(passages, start=1)]
    sample = make_sample(answer, pairs, query=query)
    turned = make_sample(answer, pairs[::-1], query=query)
    for feature in BY_NAME.values():
        value = feature.measure(sample)
        assert value == feature.measure(turned)
        if not isinstance(value, Missing):
            assert 0 <= value <= (1 if feature.name in SHARES else len(sample.folded_words))
