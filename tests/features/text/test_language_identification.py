import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sentences import SENTENCES

from arena import read_arena
from features.text.language_identification import identify_many, languages_of

IDENTIFIERS = ["py3langid", "langid"]
TOLERANCE = 1e-6
TEXTS = [
    *SENTENCES.values(),
    *("", "a", " \n\t", "\x00", "\x00" * 50, "SHOUTING IN CAPITALS", "ＡＢＣ", "e\u0301te\u0301"),
    *("Paris 巴黎 Париж", "\u200fمرحبا\u200e abc", "😀😀", "42", "a" * 31, "b" * 32, "c" * 33),
    *(sentence * 3 for sentence in SENTENCES.values()),
    "\n".join(SENTENCES.values()),
]


@pytest.fixture(scope="module")
def libraries():
    from langid.langid import LanguageIdentifier as Langid
    from langid.langid import model
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    return {
        "py3langid": LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True),
        "langid": Langid.from_modelstring(model, norm_probs=True),
    }


def by_library(library, identifier, text):
    """The probabilities of the library itself, in the order of our columns."""
    found = dict(library.rank(text))
    return np.array([found[label] for label in languages_of(identifier)])


def check(libraries, identifier, texts, tolerance):
    found = identify_many(texts, identifier)
    expected = np.array([by_library(libraries[identifier], identifier, text) for text in texts])
    assert found.shape == expected.shape
    assert np.abs(found - expected).max(initial=0.0) <= tolerance


def test_py3langid_agrees(libraries):
    check(libraries, "py3langid", [*TEXTS, "\ud800 lone", "a\udfffb"], TOLERANCE)


def test_langid_agrees(libraries):
    check(libraries, "langid", TEXTS, 1e-9)


@pytest.mark.parametrize("identifier", IDENTIFIERS)
@pytest.mark.parametrize("unit", ["a", "the word ", "北京 ", "क", "\x00"])
def test_long_texts(identifier, unit, libraries):
    text = (unit * 100_000)[:100_000]
    check(libraries, identifier, [text, "short", text[:50_001]], 1e-9)


@given(texts=st.lists(st.text(st.characters(), max_size=120), max_size=6))
def test_any_texts_in_py3langid(texts, libraries):
    if texts:
        check(libraries, "py3langid", texts, TOLERANCE)


@given(texts=st.lists(st.binary(max_size=150), min_size=1, max_size=5))
def test_random_bytes(texts, libraries):
    decoded = [text.decode("latin-1") for text in texts]
    check(libraries, "py3langid", decoded, TOLERANCE)
    check(libraries, "langid", decoded, 1e-9)


@given(texts=st.lists(st.text(st.characters(codec="utf-8")), min_size=1, max_size=5))
def test_any_texts_in_langid(texts, libraries):
    check(libraries, "langid", texts, 1e-9)


@pytest.mark.slow
def test_real_answers(shared_arenas, libraries):
    answers = read_arena(shared_arenas / "nomiracl").answers["answer"]
    texts = list(dict.fromkeys(answers))[::29]
    check(libraries, "py3langid", texts, TOLERANCE)
    check(libraries, "langid", texts[:100], 1e-9)


@pytest.mark.parametrize("identifier", IDENTIFIERS)
def test_a_text_has_the_same_values_whatever_it_stands_with(identifier):
    together = identify_many(TEXTS, identifier)
    alone = np.concatenate([identify_many([text], identifier) for text in TEXTS])
    backwards = identify_many(TEXTS[::-1], identifier)[::-1]
    assert together == pytest.approx(alone, abs=TOLERANCE)
    assert together == pytest.approx(backwards, abs=TOLERANCE)


def test_parts_of_a_batch_are_put_together(monkeypatch):
    whole = identify_many(TEXTS)
    monkeypatch.setattr("features.text.language_identification.BATCH_BYTES", 100)
    assert identify_many(TEXTS) == pytest.approx(whole, abs=TOLERANCE)


@pytest.mark.parametrize("identifier", IDENTIFIERS)
def test_rows_are_probabilities_of_distinct_languages(identifier):
    rows = identify_many(TEXTS, identifier)
    labels = languages_of(identifier)
    assert rows.shape == (len(TEXTS), len(labels))
    assert len(set(labels)) == len(labels)
    assert rows.sum(axis=1) == pytest.approx(1, abs=1e-5)
    assert rows.min() >= 0
    assert identify_many([], identifier).shape == (0, len(labels))
