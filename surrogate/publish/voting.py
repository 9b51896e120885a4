"""A ballot as one HTML file that needs neither a server nor the network."""

from __future__ import annotations

from typing import Any

from arena.people.ballots import FORMAT, LONGEST_NAME, Ballot, BallotPair
from surrogate.publish.formats import direction, language_tag
from surrogate.publish.pages import filled


def ballot_page(ballot: Ballot) -> str:
    """Write a ballot as a page; the same ballot gives the same bytes.

    Texts of others stand in the page as data, and are shown as text.
    """
    data = {
        "format": FORMAT,
        "ballot": ballot.id,
        "arena": ballot.arena,
        "pairs": [_shown(pair) for pair in ballot.pairs],
    }
    values = {"arena": ballot.arena, "longest_name": LONGEST_NAME, "data": data}
    return filled("vote", ("vote.js",), **values)


def _shown(pair: BallotPair) -> dict[str, Any]:
    comparison = pair.comparison
    language = comparison.key[0]
    return {
        "id": pair.id,
        "language": language_tag(language),
        "direction": direction(language),
        "question": comparison.question,
        "passages": [
            {
                "id": each.passage_id,
                "title": each.title or "",
                "text": each.text,
                "given_to": each.given_to or "",
            }
            for each in comparison.passages
        ],
        "a": comparison.answer_a,
        "b": comparison.answer_b,
    }
