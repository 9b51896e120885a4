import importlib.util

import pytest
from sentences import SENTENCES

from arena import MissingDependencyError
from features import parse_features
from features.declare.sample import EMPTY_ANSWER, LANGUAGE_NOT_COVERED, NO_LETTERS, NO_REASON
from features.measures import language

TARGET, ENGLISH, LANGID, LANGID_ENGLISH = parse_features(
    "target_language,english,target_language(identifier=langid),english(identifier=langid)"
)


@pytest.mark.parametrize("code", SENTENCES)
def test_the_language_of_an_answer_is_its_most_probable_one(code, make_sample):
    probability = TARGET.measure(make_sample(SENTENCES[code], code))
    assert probability > 0.5
    in_english = ENGLISH.measure(make_sample(SENTENCES[code], code))
    assert in_english == probability if code == "en" else in_english < 0.1


@pytest.mark.slow
def test_long_and_short_texts_have_what_py3langid_gives_them():
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    whole = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    for text in [
        *(text * 9 for text in SENTENCES.values()),
        " ".join(SENTENCES.values()),
        "1" * 999,
    ]:
        assert language.identify(text) == dict(whole.rank(text))
        assert language.identify(text[:99]) == dict(whole.rank(text[:99]))


def test_a_supported_share_is_that_of_the_probabilities():
    for text in SENTENCES.values():
        probabilities = language.identify(text)
        supported = sum(probabilities[code] for code in language.SUPPORTED)
        found = language.supported_share(text, "en")
        assert found == pytest.approx(probabilities["en"] / supported, rel=1e-5)
    assert language.supported_share("a text", "xx") is None


@pytest.mark.slow
def test_the_unpacked_model_is_kept_and_made_again_if_damaged(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    unpacked = language._model_arrays()
    (folder,) = tmp_path.glob("surrogate-arena/py3langid-*")
    for damage in (None, b"", b"cut"):
        if damage is not None:
            (folder / "ptc.npy").write_bytes(damage)
        read = language._model_arrays()
        assert all((read[name] == unpacked[name]).all() for name in language.MODEL_ARRAYS)


@pytest.mark.slow
def test_a_cache_that_cannot_be_written_changes_nothing(tmp_path, monkeypatch):
    (tmp_path / "surrogate-arena").write_text("no folder")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert set(language._model_arrays()) == set(language.MODEL_ARRAYS)


@pytest.mark.slow
def test_languages_an_identifier_lacks_are_missing(make_sample):
    assert LANGID.measure(make_sample(SENTENCES["yo"], "yo")) == LANGUAGE_NOT_COVERED
    assert TARGET.measure(make_sample("some text", "zzz")) == LANGUAGE_NOT_COVERED
    assert isinstance(LANGID_ENGLISH.measure(make_sample(SENTENCES["yo"], "yo")), float)


@pytest.mark.parametrize("output", ["", " \n", "##Reason: words ##Answer:", "【1】"])
def test_empty_answers_are_missing(output, make_sample):
    sample = make_sample(output, passages=[("1", 1)])
    assert TARGET.measure(sample) == ENGLISH.measure(sample) == EMPTY_ANSWER


def test_the_reason_is_read_if_asked_for(make_sample):
    target, english = parse_features("target_language(part=reason),english(part=reason)")
    reason, answer = SENTENCES["en"], SENTENCES["ru"]
    sample = make_sample(f"##Reason: {reason} [1] ##Answer: {answer}", "ru")
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
    with pytest.raises(MissingDependencyError, match=r"\[langid\]"):
        LANGID.require()
    monkeypatch.setattr(language, "find_spec", importlib.util.find_spec)
    LANGID.require()
