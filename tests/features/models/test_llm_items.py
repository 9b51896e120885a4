"""Records of what LLMs are asked: the texts by which caches know them, and back."""

from hypothesis import given
from hypothesis import strategies as st

from features.models import llm_items

RECORDS = [
    llm_items.OverlapItem,
    llm_items.FluencyItem,
    llm_items.FaithfulnessItem,
    llm_items.ContextRelevanceItem,
    llm_items.AnswerRelevanceItem,
]


@given(st.data(), st.sampled_from(RECORDS))
def test_records_are_read_back_from_their_texts(data, kind):
    record = data.draw(st.builds(kind))
    assert kind.of(record.item) == record
    assert len({kind.kind for kind in RECORDS}) == len(RECORDS)
