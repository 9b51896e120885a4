"""What judges are shown of systems with retrievers of their own."""

from own_passages import OWN, SHARED

from arena import read_arena
from arena.judging.answer_pairs import ArenaTexts
from arena.judging.pairwise import pairwise_prompt


def test_a_judge_is_told_whose_passages_are_whose(own_passages_folder):
    texts = ArenaTexts(read_arena(own_passages_folder))
    comparison = texts.comparison(("en", "q", "chosen", "own"))
    whose = {passage.text: passage.given_to for passage in comparison.passages}
    assert whose[SHARED[2]["text"]] == "A"
    assert whose[OWN[0]["text"]] == "B"
    prompt = pairwise_prompt().prompt_for(comparison).messages[-1].content
    assert "[1] (given to assistant B) Ada died in 1852." in prompt
    assert "[p3] (given to assistant A) Bern: Bern has 140,000 people." in prompt
