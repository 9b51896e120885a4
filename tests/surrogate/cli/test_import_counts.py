"""How many of what an import wrote."""

import pytest

from surrogate.cli.data.imports.sources import counted_words


@pytest.mark.parametrize(
    ("number", "words", "shown"),
    [
        (1, "published ratings", "1 published rating"),
        (1, "questions, of which the others are kept", "1 question, of which the others are kept"),
        (2, "answers of the systems not drawn", "2 answers of the systems not drawn"),
        (1, "apart", "1 apart"),
    ],
)
def test_what_is_counted_is_in_the_singular_where_it_is_one(number, words, shown):
    assert counted_words(number, words) == shown
