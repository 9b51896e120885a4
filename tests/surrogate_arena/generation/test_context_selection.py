"""The best passages by BM25, one that is relevant among them."""

import numpy as np
import pandas as pd
import pytest
from asked_questions import build_queries
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("bm25s", reason="needs the extra bm25")

from surrogate_arena.generation import select_context
from surrogate_arena.generation.context import context_words


def passage(passage_id, text, relevance=0, title=None):
    return {"passage_id": passage_id, "text": text, "title": title, "relevance": relevance}


def queries_of(query, passages, language="en"):
    return build_queries(1, (language,), passages).assign(query=query)


def ids(selected):
    return [[each["passage_id"] for each in listed] for listed in selected[0]["passages"]]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Don't paint Straße 42", ["don", "t", "paint", "strasse", "42"]),
        ("مُحَمَّد كِتـاب", ["محمد", "كتاب"]),
        ("東京都 Tokyo", ["東京", "京都", "tokyo"]),
        ("カレー", ["カレ", "レー"]),
        ("東", ["東"]),
        ("ประเทศ", ["ปร", "ระ", "ะเ", "เท", "ทศ"]),
        ("ＡＢＣ한국어", ["abc", "한국", "국어"]),
        ("हिन्दी १२", ["हिन्दी", "१२"]),
        ("…!", []),
    ],
)
def test_words_suit_the_script(text, words):
    assert context_words(text) == words


@pytest.mark.parametrize(
    ("language", "query", "right", "wrong"),
    [
        ("th", "เมืองหลวงของประเทศไทย", "กรุงเทพเป็นเมืองหลวง", "แมวชอบกินปลา"),
        ("ja", "日本の首都はどこですか", "東京は日本の首都である。", "猫は魚が好き。"),
        ("ar", "ما هي عاصمة مصر؟", "القاهرة عَاصِمَة مِصر", "القطة تحب السمك"),
        ("sw", "Mji mkuu wa Kenya", "Nairobi ni mji mkuu", "Paka hupenda samaki"),
    ],
)
def test_the_passage_that_shares_words_is_first(language, query, right, wrong):
    passages = [passage("wrong", wrong), passage("right", right)]
    assert ids(select_context(queries_of(query, passages, language), k=1)) == [["right"]]


def test_the_last_passage_makes_room_for_the_best_relevant_one():
    passages = [
        passage("none", "fish", 1),
        passage("one", "the red house", 1),
        passage("two", "red fox"),
        passage("three", "red red fox"),
    ]
    selected = select_context(queries_of("red fox", passages), k=2)
    ((first, last),) = ids(selected)
    assert {first} < {"two", "three"}
    assert last == "one"
    assert selected[1:] == (1, 0)


def test_passages_of_a_corpus():
    corpus = pd.DataFrame(
        {
            "passage_id": ["a", "b", "c", "d"],
            "text": ["cat and dog", "cat", "Katze", "fish"],
            "title": [None, "Cat", np.nan, None],
            "language": ["en", "en", "de", "en"],
        }
    )
    own = [passage("d", "fish", 1), passage("e", "a cat", 1)]
    selected = select_context(queries_of("cat dog", own), corpus, k=2)
    assert ids(selected) == [["a", "e"]]
    selected = select_context(queries_of("fish", own), corpus, k=2)
    assert selected[0]["passages"][0][0] == own[0]  # the label is kept
    assert selected[1] == 0
    assert ids(select_context(queries_of("x", [], "fi"), corpus)) == [[]]


texts = st.text(st.sampled_from("ab c東京ไท"), max_size=12)


@given(
    st.lists(st.tuples(texts, st.sampled_from([0, 1, None])), max_size=7), texts, st.integers(1, 4)
)
def test_a_relevant_passage_is_kept_whatever_the_texts(found, query, k):
    passages = [passage(str(n), text, label) for n, (text, label) in enumerate(found)]
    selected = select_context(queries_of(query or "?", passages), k=k)
    (listed,) = selected[0]["passages"]
    assert len(listed) == min(k, len(passages))
    assert len({each["passage_id"] for each in listed}) == len(listed)
    has_relevant = any(each["relevance"] == 1 for each in passages)
    assert any(each["relevance"] == 1 for each in listed) == has_relevant
