from arena import read_arena
from features import extract


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
