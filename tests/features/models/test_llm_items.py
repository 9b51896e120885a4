"""Records of what LLMs are asked: the texts by which caches know them, and back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from features.models import llm_items

RECORDS = [
    llm_items.OverlapItem,
    llm_items.FluencyItem,
    llm_items.FaithfulnessItem,
    llm_items.ContextRelevanceItem,
    llm_items.AnswerRelevanceItem,
    llm_items.UseItem,
    llm_items.EvasionItem,
]


@pytest.mark.parametrize(
    ("record", "item"),
    [
        (
            llm_items.OverlapItem("packaged", "en", "Q?", "an answer", "ref"),
            ("overlap", "packaged", "en", "Q?", "an answer", "ref"),
        ),
        (
            llm_items.FluencyItem("packaged", "de", "Q?", "output", ("[1] one", "[2] two")),
            ("fluency", "packaged", "de", "Q?", "output", "[1] one", "[2] two"),
        ),
        (
            llm_items.FaithfulnessItem("t@1", "Q?", "an answer", ("one",)),
            ("faithfulness", "t@1", "Q?", "an answer", "one"),
        ),
        (
            llm_items.AnswerRelevanceItem("packaged", "3", "query: ", "Q?", "an answer"),
            ("answer_relevance", "packaged", "3", "query: ", "Q?", "an answer"),
        ),
    ],
)
def test_items_are_known_by_the_same_texts_as_ever(record, item):
    assert record.item == item


@given(st.data(), st.sampled_from(RECORDS))
def test_records_are_read_back_from_their_texts(data, kind):
    record = data.draw(st.builds(kind))
    assert kind.of(record.item) == record
    assert len({kind.kind for kind in RECORDS}) == len(RECORDS)
