"""What judges are shown of systems with retrievers of their own."""

from own_passages import OWN, SHARED

from arena import read_arena
from arena.judging.answer_pairs import ArenaTexts
from arena.judging.pairwise import pairwise_prompt
from surrogate.checks.inspection import with_passages_of


def test_a_judge_is_told_whose_passages_are_whose(own_passages_folder):
    texts = ArenaTexts(read_arena(own_passages_folder))
    comparison = texts.comparison(("en", "q", "chosen", "own"))
    whose = {passage.text: passage.given_to for passage in comparison.passages}
    assert whose[SHARED[2]["text"]] == "A"
    assert whose[OWN[0]["text"]] == "B"
    prompt = pairwise_prompt().prompt_for(comparison).messages[-1].content
    assert "[1] (given to assistant B) Ada died in 1852." in prompt
    assert "[p3] (given to assistant A) Bern: Bern has 140,000 people." in prompt


def test_evidence_is_what_any_of_the_answers_was_given(own_passages_folder):
    arena = read_arena(own_passages_folder)
    (measured,) = with_passages_of(arena.queries, arena.answers)["passages"]
    assert [passage["passage_id"] for passage in measured] == ["p1", "p2", "p3", "1"]
    plain = arena.answers.drop(columns="passages")
    assert with_passages_of(arena.queries, plain) is arena.queries
