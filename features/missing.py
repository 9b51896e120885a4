"""Why a feature has no value; each reason is counted, none becomes a zero."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Missing:
    """A feature has no value for an answer.

    Attributes:
        reason: Why, as a clause; stands in the table of features.
    """

    reason: str

    def __str__(self) -> str:
        return self.reason


EMPTY_ANSWER = Missing("empty answer")
NO_LETTERS = Missing("no letters to tell a language by")
LANGUAGE_NOT_COVERED = Missing("language unknown to the identifier")
NO_PASSAGES = Missing("query without passages")
NO_RELEVANCE_LABELS = Missing("passages without relevance labels")
NO_RELEVANT_PASSAGE = Missing("no relevant passage")
NO_REFERENCE_SYSTEM = Missing("arena without reference system")
NO_REFERENCE_ANSWER = Missing("no reference answer to this question")
EMPTY_REFERENCE = Missing("empty reference answer")
EMPTY_PASSAGES = Missing("passages without words")
NO_CITED_PASSAGES = Missing("no passage cited")
SHORT_ANSWER = Missing("answer with fewer words than k")
NO_STATEMENTS = Missing("answer without statements")
NO_NUMBERS = Missing("answer without numbers")
NO_NAMES = Missing("answer without names")
NO_CAPITALS = Missing("script without capitals")
NO_KNOWN_QUERY_WORDS = Missing("no passage holds a word of the query")
NO_REASON = Missing("no reason given")
NO_CITATION = Missing("no citation")
NO_FULL_STOPS = Missing("language without full stops")
