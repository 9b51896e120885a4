import importlib.util
from dataclasses import replace

import pytest
from sentences import SENTENCES

from arena import MissingDependencyError
from arena.data.languages import MIRACL_LANGUAGES
from features import parse_features
from features.declare.sample import EMPTY_ANSWER, LANGUAGE_NOT_COVERED, NO_LETTERS, NO_REASON, Memo
from features.measures import language
from features.text.language_identification import identify_many

TARGET, ENGLISH, LANGID, LANGID_ENGLISH = parse_features(
    "target_language,english,target_language(identifier=langid),english(identifier=langid)"
)


def test_samples_cover_miracl():
    assert set(SENTENCES) == set(MIRACL_LANGUAGES)


@pytest.mark.parametrize("code", SENTENCES)
def test_the_language_of_an_answer_is_its_most_probable_one(code, make_sample):
    probability = TARGET.measure(make_sample(SENTENCES[code], code))
    assert probability > 0.5
    in_english = ENGLISH.measure(make_sample(SENTENCES[code], code))
    assert in_english == probability if code == "en" else in_english < 0.1


@pytest.mark.slow
def test_languages_an_identifier_lacks_are_missing(make_sample):
    assert LANGID.measure(make_sample(SENTENCES["yo"], "yo")) == LANGUAGE_NOT_COVERED
    assert TARGET.measure(make_sample("some text", "zzz")) == LANGUAGE_NOT_COVERED
    assert isinstance(LANGID_ENGLISH.measure(make_sample(SENTENCES["yo"], "yo")), float)


@pytest.mark.parametrize("output", ["", " \n", "##Reason: words ##Answer:", "【1】"])
def test_empty_answers_are_missing(output, make_sample):
    sample = make_sample(output, passages=[("1", 1)])
    assert TARGET.measure(sample) == ENGLISH.measure(sample) == EMPTY_ANSWER


@pytest.mark.parametrize("output", ["2024", "42%!", "\x00\x07", "\u200f", "😀"])
def test_answers_without_letters_are_missing(output, make_sample):
    assert TARGET.measure(make_sample(output)) == NO_LETTERS


def test_citations_and_reasoning_do_not_count(make_sample):
    plain = TARGET.measure(make_sample(SENTENCES["ru"], "ru"))
    cited = f"##Reason: in plain English words ##Answer: {SENTENCES['ru']} [Doc 1]"
    assert TARGET.measure(make_sample(cited, "ru")) == plain


@pytest.fixture
def asked(monkeypatch):
    """The lists of texts that are identified."""
    lists = []

    def counting(texts, identifier):
        if texts:
            lists.append(list(texts))
        return identify_many(texts, identifier)

    monkeypatch.setattr(language, "identify_many", counting)
    return lists


def test_both_features_share_one_identification(make_sample, asked):
    sample = make_sample("Some text")
    TARGET.measure(sample)
    ENGLISH.measure(sample)
    assert asked == [["Some text"]]


def test_samples_are_identified_together(make_sample, asked):
    memo = Memo()
    texts = ["Some text", "Du texte", "", "42", "Some text"]
    samples = [replace(make_sample(text), memo=memo) for text in texts]
    for feature in (TARGET, ENGLISH):
        feature.prepare_for(samples)
    together = [[feature.measure(sample) for sample in samples] for feature in (TARGET, ENGLISH)]
    assert asked == [["Some text", "Du texte"]]
    alone = [
        [feature.measure(make_sample(text)) for text in texts] for feature in (TARGET, ENGLISH)
    ]
    assert together == alone


def test_samples_without_a_shared_memo_are_identified_together(make_sample, asked):
    samples = [make_sample("Some text"), make_sample("Some text"), make_sample("Du texte")]
    TARGET.prepare_for(samples)
    values = [TARGET.measure(sample) for sample in samples]
    assert asked == [["Some text", "Du texte"]]
    assert values[0] == values[1] != values[2]


def test_the_reason_is_read_if_asked_for(make_sample):
    target, english = parse_features("target_language(part=reason),english(part=reason)")
    reason, answer = SENTENCES["en"], SENTENCES["ru"]
    sample = make_sample(f"##Reason: {reason} [1] ##Answer: {answer}", "ru")
    for feature in (target, english):
        feature.prepare_for([sample])
    assert english.measure(sample) == ENGLISH.measure(make_sample(reason))
    assert target.measure(sample) == TARGET.measure(make_sample(reason, "ru")) < 0.1
    assert TARGET.measure(sample) == TARGET.measure(make_sample(answer, "ru")) > 0.9


def test_the_whole_output_is_read_if_asked_for(make_sample):
    (target,) = parse_features("target_language(part=output)")
    reason, answer = SENTENCES["en"], SENTENCES["ru"]
    whole = make_sample(f"{reason} [1] {answer}", "ru")
    assert target.measure(whole) == TARGET.measure(make_sample(f"{reason} {answer}", "ru"))
    parted = make_sample(f"##Reason: {reason} ##Answer: {answer}", "ru")
    assert target.measure(parted) < TARGET.measure(parted)


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        ("", NO_REASON),
        ("Paris", NO_REASON),
        ("##Answer: Paris", NO_REASON),
        ("##Reason: [1] ##Answer: Paris", NO_REASON),
        ("##Reason: 42 ##Answer: Paris", NO_LETTERS),
    ],
)
def test_a_missing_reason_is_said(output, expected, make_sample):
    for feature in parse_features("target_language(part=reason),english(part=reason)"):
        assert feature.measure(make_sample(output, passages=[("1", 1)])) == expected


def test_langid_is_optional(monkeypatch):
    monkeypatch.setattr(language, "find_spec", lambda name: None)
    with pytest.raises(MissingDependencyError, match=r"surrogate-arena\[langid\]"):
        LANGID.require()
    monkeypatch.setattr(language, "find_spec", importlib.util.find_spec)
    LANGID.require()
