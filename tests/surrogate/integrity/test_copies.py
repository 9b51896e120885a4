"""Copies of judged systems are named; systems that merely agree are not."""

import pandas as pd
import pytest

from surrogate.integrity.copies import near_copies
from surrogate.ranking.rank import rank_systems

LONG = (
    "The tower was finished in 1889 for the fair and stood taller than any building before it [{}]."
)
OTHER = "It opened when the world's fair of Paris began, and nothing higher had been built [{}]."


def answers(system, texts, language="en"):
    rows = {"query_id": [f"q{number}" for number in range(len(texts))], "answer": list(texts)}
    return pd.DataFrame(rows).assign(language=language, system=system)


@pytest.fixture
def known():
    one = answers("one", [LONG.format(number) for number in range(8)])
    return pd.concat([one, answers("two", [OTHER.format(number) for number in range(8)])])


def test_a_copy_is_named_with_its_share(known):
    texts = [LONG.format(number) for number in range(6)] + [
        "Something else was said here, at length."
    ] * 2
    [(key, copy)] = near_copies(answers("new", texts), known).items()
    assert key == ("en", "new")
    assert (copy.original, copy.share) == ("one", 0.75)
    assert str(copy) == "near-copy of one: 75% of its answers"


def test_a_word_changed_here_and_there_is_still_a_copy(known):
    texts = [LONG.format(number).replace("tall", "high") for number in range(8)]
    assert near_copies(answers("new", texts), known)["en", "new"].original == "one"


def test_other_words_other_questions_and_short_answers_are_no_copies(known):
    assert (
        near_copies(answers("new", ["Paris held a fair, for which a tower was made."] * 8), known)
        == {}
    )
    later = known.assign(query_id="later-" + known["query_id"])
    assert near_copies(answers("new", later["answer"][:8]), later) == {}
    short = answers("one", ["I do not know."] * 8)
    assert near_copies(short.assign(system="new"), short) == {}
    assert near_copies(answers("new", []), known) == {}


def test_half_of_the_answers_make_a_copy(known):
    for same, is_copy in ((4, True), (3, False)):
        texts = [LONG.format(number) for number in range(same)]
        texts += [f"All of this is said in the writer's own words, {n}." for n in range(8 - same)]
        assert bool(near_copies(answers("new", texts), known)) == is_copy


def test_the_order_of_rows_does_not_matter(known):
    new = answers("new", [LONG.format(number) for number in range(8)])
    shuffled = known.sample(frac=1, random_state=1)
    assert near_copies(new, known) == near_copies(new.sample(frac=1, random_state=2), shuffled)


def test_ranking_says_whose_copy_a_system_is(small_board, small_arena):
    original = small_arena.info.systems[0]
    copy = small_arena.answers[small_arena.answers["system"] == original].assign(system="copy")
    placed = rank_systems(small_board, copy, small_arena)
    notes = placed.new.set_index("language")["note"]
    assert notes.str.contains("near-copy of .*: 100% of its answers").all(), notes.to_dict()
    assert notes.str.contains(original).any()
