import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sentences import SENTENCES
from threadpoolctl import threadpool_limits

from arena import read_arena
from features.text import language_identification
from features.text.language_identification import ByteAutomaton, identify_many, languages_of, load_identifier

IDENTIFIERS = ["py3langid", "langid"]
TEXTS = [
    *SENTENCES.values(),
    *("", "a", " \n\t", "\x00", "\x00" * 50, "SHOUTING IN CAPITALS", "ＡＢＣ", "e\u0301te\u0301"),
    *("Paris 巴黎 Париж", "\u200fمرحبا\u200e abc", "😀😀", "42", "a" * 31, "b" * 32, "c" * 33),
    *(sentence * 3 for sentence in SENTENCES.values()),
    "\n".join(SENTENCES.values()),
]


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    """Sums split over threads differ in their last bits."""
    with threadpool_limits(limits=1):
        yield


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


@pytest.mark.parametrize("identifier", IDENTIFIERS)
def test_the_libraries_internals_are_still_as_read(identifier):
    library, batched = languages._LOADERS[identifier]()
    assert languages._agree(library, batched())
    assert load_identifier(identifier).identify.__qualname__.startswith("_batched")


def test_py3langid_to_the_last_bit(libraries):
    check(libraries, "py3langid", [*TEXTS, "\ud800 lone", "a\udfffb"], 0.0)


def test_langid_to_nine_digits(libraries):
    check(libraries, "langid", TEXTS, 1e-9)


@pytest.mark.parametrize("identifier", IDENTIFIERS)
@pytest.mark.parametrize("unit", ["a", "the word ", "北京 ", "क", "\x00"])
def test_long_texts(identifier, unit, libraries):
    text = (unit * 100_000)[:100_000]
    check(libraries, identifier, [text, "short", text[:50_001]], 1e-9)


@settings(max_examples=200, deadline=None)
@given(texts=st.lists(st.text(st.characters(), max_size=120), max_size=6))
def test_any_texts_in_py3langid(texts, libraries):
    if texts:
        check(libraries, "py3langid", texts, 0.0)


@settings(max_examples=60, deadline=None)
@given(texts=st.lists(st.binary(max_size=150), min_size=1, max_size=5))
def test_random_bytes(texts, libraries):
    decoded = [text.decode("latin-1") for text in texts]
    check(libraries, "py3langid", decoded, 0.0)
    check(libraries, "langid", decoded, 1e-9)


@settings(max_examples=60, deadline=None)
@given(texts=st.lists(st.text(st.characters(codec="utf-8")), min_size=1, max_size=5))
def test_any_texts_in_langid(texts, libraries):
    check(libraries, "langid", texts, 1e-9)


def test_real_answers(shared_arenas, libraries):
    answers = read_arena(shared_arenas / "nomiracl").answers["answer"]
    texts = list(dict.fromkeys(answers))[::7]
    check(libraries, "py3langid", texts, 0.0)
    check(libraries, "langid", texts[:200], 1e-9)


@pytest.mark.parametrize("identifier", IDENTIFIERS)
def test_a_text_has_the_same_bits_whatever_it_stands_with(identifier):
    together = identify_many(TEXTS, identifier)
    alone = np.concatenate([identify_many([text], identifier) for text in TEXTS])
    backwards = identify_many(TEXTS[::-1], identifier)[::-1]
    assert np.array_equal(together, alone)
    assert np.array_equal(together, backwards)


def test_parts_of_a_batch_are_put_together(monkeypatch):
    whole = identify_many(TEXTS)
    monkeypatch.setattr("features.text.language_identification.BATCH_BYTES", 100)
    assert np.array_equal(identify_many(TEXTS), whole)


@pytest.mark.parametrize("identifier", IDENTIFIERS)
def test_rows_are_probabilities_of_distinct_languages(identifier):
    rows = identify_many(TEXTS, identifier)
    labels = languages_of(identifier)
    assert rows.shape == (len(TEXTS), len(labels))
    assert len(set(labels)) == len(labels)
    assert rows.sum(axis=1) == pytest.approx(1, abs=1e-5)
    assert rows.min() >= 0
    assert identify_many([], identifier).shape == (0, len(labels))


@pytest.mark.parametrize("change", ["missing", "other"])
def test_the_library_stands_in_where_its_internals_have_changed(change, monkeypatch):
    expected = identify_many(TEXTS[:5], "langid")
    load = languages._LOADERS["langid"]

    def changed():
        library, batched = load()
        return library, (lambda: missing()) if change == "missing" else (lambda: other(batched()))

    def missing():
        raise AttributeError("tk_nextmove")

    def other(model):
        return languages.Identifier(
            model.labels, lambda texts: np.roll(model.identify(texts), 1, axis=1)
        )

    monkeypatch.setitem(languages._LOADERS, "langid", changed)
    load_identifier.cache_clear()
    try:
        labels = list(languages_of("langid"))
        found = identify_many(TEXTS[:5], "langid")
    finally:
        load_identifier.cache_clear()
    order = [labels.index(label) for label in languages_of("langid")]
    assert found[:, order] == pytest.approx(expected, abs=1e-9)


def walk(moves, text):
    state, visited = 0, []
    for byte in text:
        state = moves[state][byte]
        visited.append(state)
    return visited


@given(
    seed=st.integers(0, 2**32),
    states=st.integers(1, 6),
    texts=st.lists(st.binary(max_size=200), max_size=5),
)
def test_any_machine_is_walked_exactly(seed, states, texts):
    """Also one that never forgets, such as a counter."""
    moves = np.random.default_rng(seed).integers(states, size=(states, 256))
    machine = ByteAutomaton(moves.ravel(), np.arange(states) * 256)
    places, visited = machine.states(texts)
    assert visited.tolist() == [state for text in texts for state in walk(moves, text)]
    assert places.tolist() == [place for place, text in enumerate(texts) for _ in text]


def test_a_machine_that_never_forgets_is_walked_exactly():
    moves = np.array([[(state + byte) % 7 for byte in range(256)] for state in range(7)])
    machine = ByteAutomaton(moves.ravel(), np.arange(7) * 256)
    texts = [bytes(range(256)) * 2, b"\x01" * 1000]
    assert machine.states(texts)[1].tolist() == [s for text in texts for s in walk(moves, text)]
