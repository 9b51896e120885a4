"""Questions chosen for an evaluation: ratings stay of languages that still have questions."""

from dataclasses import replace

from simulations import full_arena

from arena import read_arena, write_arena
from surrogate_arena.generation import SetRules, evaluation_set


def test_questions_of_one_language_leave_no_ratings_of_another(tmp_path):
    """Those of a language without a question left once stayed, and no such arena could be read."""
    arena = full_arena()
    passages = [
        [{**passage, "relevance": 1} for passage in row.passages]
        if row.language == "es"
        else row.passages
        for row in arena.queries.itertuples()
    ]
    easy = replace(arena, queries=arena.queries.assign(passages=passages))
    part, _ = evaluation_set(easy, SetRules(only_hard=True))
    assert part.info.languages == ("en",)
    write_arena(part, tmp_path)
    assert set(read_arena(tmp_path).published_ratings["language"]) == {"en"}
