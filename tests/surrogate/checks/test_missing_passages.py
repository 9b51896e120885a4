"""Citations of passages that an arena lacks, or names otherwise, are named."""

import pandas as pd
import pytest

from arena import Arena
from surrogate.checks.citations import citation_remarks
from surrogate.checks.faults import arena_faults, find_faults

QUESTIONS = pd.DataFrame({"query_id": list("abcdef"), "query": [f"What is {x}?" for x in "abcdef"]})


def arena_of(passage_ids, cited):
    """Let a system cite in its answer to each of six questions, with the same passages."""
    passages = [{"passage_id": passage_id, "text": "text"} for passage_id in passage_ids]
    questions = QUESTIONS.assign(passages=[passages] * len(QUESTIONS))
    answers = pd.DataFrame({"query_id": QUESTIONS["query_id"], "system": "x"})
    answers["answer"] = [f"So it is {brackets}." for brackets in cited]
    return Arena.from_frames(questions, answers, language="en")


def remarks(passage_ids, cited):
    return list(citation_remarks(arena_of(passage_ids, cited)))


@pytest.mark.parametrize(
    ("passage_ids", "cited", "is_named"),
    [
        (["doc-17", "doc-4"], "[1]", True),
        (["doc-17", "doc-4"], "[doc-4]", False),
        (["101", "17"], "[1]", True),
        (["1", "2"], "[1]", False),
        ([], "[1]", False),
        (["doc-17", "doc-4"], "", False),
    ],
)
def test_citations_that_are_no_ids_of_passages_are_named(passage_ids, cited, is_named):
    found = remarks(passage_ids, [cited] * 6)
    assert [remark.subject for remark in found] == ["en"] * is_named
    for remark in found:
        assert "such as [1], but never the id of a passage" in remark.sentence
        assert f"such as {passage_ids[0]}:" in remark.sentence


@pytest.mark.parametrize("passage_ids", [["1", "2"], ["doc-17", "doc-4"]])
def test_more_passages_cited_than_given_are_counted(passage_ids):
    cited = ["[1]", "[1][5]", "[7]", "[2][19]", "[3, 4]", ""]
    (remark,) = remarks(passage_ids, cited)
    assert remark.severity == "warning"
    assert str(remark).startswith(
        "en: 4 of 5 answers with citations cite passages that are not there: up to [19], with 2 "
        "given."
    )


@pytest.mark.parametrize(
    "cited",
    [
        ["[1]", "[2]", "[1]", "[2]", "[19]", "[19]"],  # a third of them are slips
        ["[19]", "[19]", "[19]", "", "", ""],  # too few cite
        ["[1] of [2019]"] * 6,
    ],
)
def test_few_slips_and_years_are_not_named(cited):
    assert not remarks(["1", "2"], cited)


@pytest.mark.parametrize(("passage_ids", "n_doubted"), [(["1", "2"], 4), (["101", "17"], 6)])
def test_citations_are_no_certain_faults_where_the_passages_are_in_doubt(passage_ids, n_doubted):
    faults = arena_faults(arena_of(passage_ids, ["[1]", "[2]", "[7]", "[19]", "[5]", "[6]"]))
    assert faults.n_broken == 0
    assert (faults.unchecked["check"] == "dead-citation").sum() == n_doubted


def test_a_new_system_is_broken_that_alone_cites_what_was_not_given():
    arena = arena_of(["1", "2"], ["[1]"] * 6)
    new = arena.answers.assign(system="new", answer="So it is [7].")
    assert find_faults(arena, new).n_broken == len(new)


def test_one_system_of_two_does_not_cast_doubt_on_the_passages():
    arena = arena_of(["1", "2"], ["[1]"] * 6)
    new = arena.answers.assign(system="new", answer="So it is [7].")
    both = Arena.from_frames(arena.queries, pd.concat([arena.answers, new]), language="en")
    assert not list(citation_remarks(both))
    assert arena_faults(both).n_broken == len(new)
