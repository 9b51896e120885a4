"""Systems with retrievers of their own: passages of an answer instead of the question's."""

import pytest
from own_passages import SHARED, row, write_lines

from arena import read_arena, write_arena
from arena.data.errors import DataError
from features import extract


def test_ids_are_looked_up_and_labels_are_those_of_the_question(own_passages_folder):
    answers = read_arena(own_passages_folder).answers.set_index("system")["passages"]
    assert answers["given"] is None
    assert answers["chosen"] == [SHARED[2], SHARED[1]]
    assert [passage["relevance"] for passage in answers["own"]] == [None, 1]


@pytest.mark.parametrize("suffix", [".jsonl.gz", ".parquet"])
def test_they_come_back_as_written(own_passages_folder, suffix, tmp_path):
    arena = read_arena(own_passages_folder)
    write_arena(arena, tmp_path / "again", suffix)
    again = read_arena(tmp_path / "again")
    assert again.answers["passages"].tolist() == arena.answers["passages"].tolist()


@pytest.mark.parametrize(
    ("passages", "fault"),
    [
        (["p9"], "no passage 'p9' is among those of the question"),
        ("p1", "Input should be a valid list"),
        ([SHARED[0], "p1"], "passage_id 'p1' appears twice"),
        ([{"passage_id": "x"}], "passages.0.text: Field required"),
        ([7], "passages.0: "),
        ([{"passage_id": "x", "text": "\ud800"}], "holds half a surrogate pair"),
    ],
)
def test_what_is_wrong_is_said(own_passages_folder, passages, fault):
    write_lines(own_passages_folder / "answers.jsonl", [row("given"), row("own", passages)])
    with pytest.raises(DataError) as error:
        read_arena(own_passages_folder)
    problem = error.value.problems[0]
    assert (problem.source, problem.line, problem.field) == ("answers.jsonl", 2, "passages")
    assert fault in problem.fault


def values(arena, features, answers=None):
    return extract(arena, features, answers=answers).set_index("system")


def test_features_look_at_what_the_system_was_given(own_passages_folder):
    features = "citation_recall,invalid_citations,ngram_coverage@1,unsupported_numbers"
    measured = values(read_arena(own_passages_folder), features)
    assert measured.loc["given", "citation_recall@10"] == 0.5  # of p1 and p3
    assert measured.loc["chosen", "citation_recall@10"] == 1.0  # p3 is all that it was given
    assert measured["invalid_citations"].to_dict() == {"given": 0, "chosen": 1, "own": 0}
    assert measured.loc["own", "unsupported_numbers"] == 0.0  # 1852 stands in its own passage


def test_retrieval_is_measured_against_all_that_is_known_to_be_relevant(own_passages_folder):
    features = values(read_arena(own_passages_folder), "retrieval")
    assert features.loc["given", "retrieval_recall@10:missing"] == "passages shared by all systems"
    assert features.loc["chosen", "retrieval_recall@10"] == 0.5  # p3 of p1 and p3
    assert features.loc["chosen", "retrieval_map@10"] == 0.5  # first of two
    assert features.loc["own", "retrieval_recall@10"] == 0.5
    assert features.loc["own", "retrieval_map@10"] == 0.25  # second of two, half of it
