"""Battles with a column of verdicts for each voter: each vote becomes a row of its own."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import chain

from arena.adapters.battle_columns import FLAGS, OUR_COLUMNS, battle_fields, columns_of_winners
from arena.adapters.columns import bare_column
from arena.adapters.judges import JUDGE_SOURCES
from arena.adapters.shaped_rows import with_records
from arena.data.cells import is_missing_cell
from arena.data.rows import Rows
from arena.data.schema import VOTER
from arena.data.winner_words import NO_VERDICT, word_of

_PEOPLE = frozenset(
    {
        *("annotator", "rater", "voter", "judge", "person", "user", "worker", "reviewer", "expert"),
        *("participant", "evaluator", "assessor", "labeler", "labeller", "grader", "human"),
    }
)
_NO_PEOPLE = frozenset(
    {
        *("overall", "quality", "style", "tone", "format", "length", "depth", "detail", "details"),
        *("accuracy", "accurate", "relevancy", "relevant", "fluent", "clear", "concise", "correct"),
        *("complete", "factual", "faithful", "truth", "honest", "safe", "better", "best", "good"),
        *("safer", "clearer", "shorter", "longer", "nicer", "deeper", "grammar", "other"),
        *("language", "citations", "support", "trust", "ethics", "logic", "facts", "content"),
        *("original", "swapped", "reversed", "forward", "backward", "before", "after", "first"),
        *("second", "third", "old", "new", "final", "gold", "golden", "truth", "majority"),
        *("consensus", "total", "mean", "score", "label", "verdict", "vote", "result", "outcome"),
        *("winner", "pick", "choice", "round", "game", "run", "order", "turn", "side", "answer"),
    }
)
_OF_QUALITIES = re.compile(
    r".+(?:ness|ity|ance|ence|ency|tion|sion|ing|ful|ive|ous|[ai]ble|less|ment)"
)


def with_row_for_each_voter(rows: Rows) -> Rows | None:
    """Turn battles with the votes of several people in a row into a row for each vote.

    None unless that is certain: two or more columns hold words for a winner and nothing else,
    they have names as people have, and no column is known for a winner or for who judged.
    """
    fields = battle_fields()
    names = {bare_column(column) for column in map(str, rows.table)}
    said = chain.from_iterable(fields[field] for field in ("winner", "judge", VOTER))
    if columns_of_winners(rows.table) or not names.isdisjoint(said):
        return None
    known = {*chain.from_iterable(fields.values()), *OUR_COLUMNS, *JUDGE_SOURCES, *FLAGS}
    voters = []
    for column in map(str, rows.table):
        if bare_column(column) in known or not _has_verdicts(rows, column):
            continue
        if not _holds_verdicts_only(rows, column) or not _is_person(column):
            return None
        voters.append(column)
    if len(voters) < 2:
        return None
    has_ids = not names.isdisjoint(fields["query_id"])
    numbered = []
    for number, record in enumerate(rows.table.drop(columns=voters).to_dict(orient="records")):
        # The votes on a battle are on one question.
        battle = {} if has_ids else {"battle_id": f"{rows.source}:{rows.lines.iloc[number]}"}
        for voter in voters:
            vote = {"voter": voter.strip(), "winner": rows.table[voter].iloc[number]}
            numbered.append((number, record | battle | vote))
    note = f"these columns hold the votes of {len(voters)} people: {', '.join(voters)}"
    return with_records(replace(rows, table=rows.table.drop(columns=voters)), numbered, note)


def _has_verdicts(rows: Rows, column: str) -> bool:
    words = [word_of(cell) for cell in rows.table[column] if isinstance(cell, str)]
    return any(word not in (None, NO_VERDICT) for word in words)


def _holds_verdicts_only(rows: Rows, column: str) -> bool:
    for cell in rows.table[column]:
        is_verdict = isinstance(cell, str) and word_of(cell) is not None
        if not is_verdict and not is_missing_cell(cell):
            return False
    return True


def _is_person(column: str) -> bool:
    """Tell whether a column is called as people are, rather than as a quality or a round."""
    words = re.findall(r"[^\W\d_]+", column.casefold())
    if not _PEOPLE.isdisjoint(words):
        return True
    has_digits = re.search(r"\d", column) is not None
    is_quality = any(word in _NO_PEOPLE or _OF_QUALITIES.fullmatch(word) for word in words)
    return max(map(len, words), default=0) > 1 and not has_digits and not is_quality
