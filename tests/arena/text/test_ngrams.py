"""Hashed n-grams are scikit-learn's, and keep how alike texts are."""

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from sklearn.feature_extraction.text import CountVectorizer

from arena.text.ngrams import LONGEST, SHORTEST, hashed, ngram_hashes

PEER = CountVectorizer(analyzer="char_wb", ngram_range=(SHORTEST, LONGEST)).build_analyzer()
TEXTS = [
    "The river flows under the old bridge, and the bridge is older than the town.",
    "The river flows below the old bridge; that bridge is older than the town itself.",
    "Nobody knows who built the bridge, but the town grew up around it.",
    "富士山は日本で一番高い山です。",
    "日本で一番高い山は富士山です。",
    "Кто построил мост, не знает никто.",
]


@given(st.text(alphabet=st.sampled_from("abc äЖ山\n\t.,"), max_size=60) | st.text(max_size=40))
def test_the_ngrams_are_those_of_the_vectorizer(text):
    """Each as often: which hash stands for which does not matter."""
    hashes, whose = ngram_hashes([text, *TEXTS, text])
    for own in (0, len(TEXTS) + 1):
        found = Counter(hashes[whose == own].tolist())
        assert sorted(found.values()) == sorted(Counter(PEER(text)).values())


@given(st.lists(st.text(alphabet="abcdef", min_size=1, max_size=9), min_size=1, max_size=9))
def test_equal_ngrams_have_equal_hashes(words):
    (one, _), (each, _) = ngram_hashes([" ".join(words)]), ngram_hashes(words)
    assert set(one.tolist()) == set(each.tolist())


def test_cosines_are_those_of_counted_ngrams():
    counts = (
        CountVectorizer(analyzer="char_wb", ngram_range=(SHORTEST, LONGEST))
        .fit_transform(TEXTS)
        .toarray()
    )
    vectors = [np.log1p(counts), hashed(TEXTS).unit_rows().dense()]
    exact, found = (part @ part.T for part in vectors)
    sizes = [np.sqrt(np.diag(part)) for part in (exact, found)]
    exact, found = (p / np.outer(s, s) for p, s in zip((exact, found), sizes, strict=True))
    np.testing.assert_allclose(found, exact, atol=0.06)
