"""How far texts explain each other, whatever was done to hide it."""

import numpy as np
import pandas as pd
import pytest

from surrogate.checks.hashed_words import word_hashes
from surrogate.checks.likeness import (
    NOISE,
    explained_by,
    explained_by_others,
    local_vectors,
    measure_likeness,
    pair_counts,
)

TEXTS = [
    "the cat sat on the mat and slept until noon",
    "a dog ran over the hill and came home late",
    "the cat sat on the mat and then it ran over the hill",
    "rivers carry water from mountains to the sea",
]


def vectors_of(texts, questions=None, is_judged=None):
    counts = pair_counts(word_hashes([text.split() for text in texts]))
    if questions is None:
        questions = np.zeros(len(texts), dtype=np.intp)
    if is_judged is None:
        is_judged = np.ones(len(texts), dtype=bool)
    return local_vectors(counts, questions, is_judged)


def products(vectors, others):
    return (vectors @ others.T).toarray()


def of_sources(vectors, n_sources):
    sources = vectors[:n_sources]
    return explained_by(products(vectors[n_sources:], sources), products(sources, sources))


def test_leaving_one_out_is_the_ridge_without_it():
    vectors = vectors_of(TEXTS)
    dense = vectors.toarray()
    for place, explained in enumerate(explained_by_others(products(vectors, vectors))):
        others = np.delete(dense, place, axis=0)
        alike = others @ dense[place]
        gram = others @ others.T + NOISE * np.eye(len(others))
        assert explained == pytest.approx(alike @ np.linalg.solve(gram, alike))


def test_sources_add_up_to_what_all_of_them_explain():
    texts = [*TEXTS, "the cat sat on the mat and a dog ran over the hill"]
    vectors = vectors_of(texts)
    by_source = of_sources(vectors, 4)
    assert by_source.shape == (1, 4)
    assert by_source.sum() == pytest.approx(explained_by_others(products(vectors, vectors))[4])
    assert by_source[0].argmax() in {0, 1, 2}
    assert by_source[0, 3] == pytest.approx(0, abs=0.05)


def test_a_text_without_some_words_stays_explained():
    text = [f"word{place}" for place in range(12)]
    other = [f"other{place}" for place in range(12)]
    shorter = [word for place, word in enumerate(text) if place % 5 != 4]
    texts = [" ".join(words) for words in (text, other, shorter)]
    vectors = vectors_of(texts, is_judged=np.array([True, True, False]))
    explained = of_sources(vectors, 2)
    assert explained[0, 0] > 0.3
    assert explained[0, 1] == pytest.approx(0, abs=0.01)


def test_texts_without_pairs_explain_nothing():
    vectors = vectors_of([*TEXTS, "", "word"])
    explained = explained_by_others(products(vectors, vectors))
    assert explained[-2:] == pytest.approx([0, 0])
    assert of_sources(vectors, 4) == pytest.approx(np.zeros((2, 4)))


def test_answers_to_a_question_have_the_vectors_that_they_have_alone():
    texts = [*TEXTS, *(f"{text} and so on" for text in TEXTS)]
    questions = np.repeat([3, 1], len(TEXTS))
    is_judged = np.array([True, True, True, False] * 2)
    together = vectors_of(texts, questions, is_judged).toarray()
    for question in (1, 3):
        is_here = questions == question
        chosen = [texts[place] for place in np.flatnonzero(is_here)]
        alone = vectors_of(chosen, questions[is_here], is_judged[is_here]).toarray()
        # Words are numbered in their order, so the columns of a pair may differ.
        assert together[is_here] @ together[is_here].T == pytest.approx(alone @ alone.T)


def shared_with(passages):
    """What others explain of three judged answers and of two new ones to one question."""
    quoted = "the passage says that salt dissolves in water within a minute or two"
    answers = [f"{quoted} one", TEXTS[0], TEXTS[1], f"{quoted} two", f"{TEXTS[0]} again"]
    elsewhere = ["snow falls in winter", "trees lose their leaves", "birds fly south in flocks"]
    systems = ["a", "b", "c", "quoting", "copying"]
    rows = pd.DataFrame({"system": [*systems, *systems[:3]], "question": [0] * 5 + [1] * 3})
    texts = word_hashes([text.split() for text in (*answers, *elsewhere, *passages)])
    is_judged = rows["system"].isin(["a", "b", "c"]).to_numpy()
    places = np.zeros(len(passages), dtype=np.intp)
    likeness = measure_likeness(texts, rows, is_judged, places)
    return likeness.answers["shared"].to_numpy()[:5], likeness.nearest


def test_quoting_a_shown_passage_is_no_likeness_and_copying_an_answer_is():
    passage = "the passage says that salt dissolves in water within a minute or two and no longer"
    usual, _ = shared_with([])
    assert usual[3] > 0.5
    assert usual[4] > 0.5
    beyond, nearest = shared_with([passage])
    assert beyond[3] < usual[3] / 2
    assert beyond[4] == pytest.approx(usual[4], abs=0.02)
    assert nearest["copying"] == "b"
    of_another_question, _ = shared_with([TEXTS[3]])
    assert of_another_question == pytest.approx(usual, abs=0.02)
