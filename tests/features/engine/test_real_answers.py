import pytest

from arena import read_arena
from features import extract, missing_counts


@pytest.fixture(scope="module")
def nomiracl(shared_arenas):
    arena = read_arena(shared_arenas / "nomiracl")
    return arena, extract(arena)


@pytest.mark.slow
def test_every_answer_has_a_row_and_every_gap_a_reason(nomiracl):
    arena, table = nomiracl
    assert len(table) == len(arena.answers) == 13_728
    counts = missing_counts(table)
    assert counts["answers"].sum() == table.filter(regex="^[^:]*$").isna().sum().sum()


@pytest.mark.slow
def test_the_reference_system_overlaps_with_itself(nomiracl):
    arena, table = nomiracl
    own = table[table["system"] == arena.info.reference_system]
    assert (own["bleu"].dropna() == 1.0).all()
    assert (own["rouge_l"].dropna() == 1.0).all()
    assert own["rouge_l"].notna().mean() > 0.99


@pytest.mark.slow
def test_a_part_of_the_answers_measured_alone_gets_the_same_values(nomiracl):
    arena, table = nomiracl
    part = arena.answers[arena.answers["language"] == "te"]
    expected = table[table["language"] == "te"].reset_index(drop=True)
    found = extract(arena, answers=part)
    assert found.equals(expected)


def test_citations_of_crowd_rag_resolve_to_its_passages(shared_arenas):
    table = extract(
        read_arena(shared_arenas / "crowd-rag"), "citations,invalid_citations,citation_recall"
    )
    assert table["citations"].mean() > 5
    assert (table["invalid_citations"] > 0).sum() == 1
    assert set(table["citation_recall@10:missing"]) == {"passages without relevance labels"}


def test_citations_of_trec_rag_resolve_to_its_segments(shared_arenas):
    table = extract(read_arena(shared_arenas / "trec-rag25"), "citations,english")
    assert (table["citations"] >= 1).all()
    assert (table["english"] > 0.99).all()


def test_rakuda_has_no_passages_but_japanese_answers(shared_arenas):
    table = extract(read_arena(shared_arenas / "rakuda"), "citations,target_language")
    assert set(table["citations:missing"]) == {"query without passages"}
    assert table["target_language"].median() > 0.99
