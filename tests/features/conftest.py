import pandas as pd
import pytest

from arena import Arena, ArenaInfo, Passage
from features import Question, Sample
from features.declare.sample import NO_REFERENCE_SYSTEM


@pytest.fixture
def make_sample():
    def make(output, language="en", passages=(), reference=NO_REFERENCE_SYSTEM):
        """Passages are (id, relevance) pairs."""
        records = tuple(
            Passage(passage_id=passage_id, text="…", relevance=relevance)
            for passage_id, relevance in passages
        )
        return Sample(Question(language, "q", "?", records, reference), output)

    return make


@pytest.fixture
def small_arena():
    """Three systems, two languages; not every system answers every question."""
    passages = [
        {"passage_id": "1", "text": "a", "relevance": 1},
        {"passage_id": "2", "text": "b", "relevance": 0},
        {"passage_id": "3", "text": "c", "relevance": 1},
    ]
    queries = [("en", "q1", passages), ("en", "q2", []), ("hi", "q1", passages)]
    answers = [
        ("en", "q1", "ref", "##Reason: see [3] ##Answer: The capital is Paris [1]."),
        ("en", "q2", "ref", "No idea."),
        ("en", "q1", "one", "Paris is the capital [2, 3]."),
        ("en", "q2", "one", ""),
        ("hi", "q1", "one", "राजधानी पेरिस है [१] [७]।"),
        ("en", "q1", "two", "Paris"),
        ("hi", "q1", "two", "2024"),
    ]
    info = ArenaInfo(
        name="small", languages=["en", "hi"], systems=["one", "ref", "two"], reference_system="ref"
    )
    return Arena(
        info,
        pd.DataFrame(
            [(query, language, "?", listed) for language, query, listed in queries],
            columns=["query_id", "language", "query", "passages"],
        ),
        pd.DataFrame(answers, columns=["language", "query_id", "system", "answer"]),
        pd.DataFrame(
            columns=["query_id", "language", "system_a", "system_b", "winner", "judge"], dtype=str
        ),
    )
