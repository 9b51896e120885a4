"""Ballots of pairs of answers without the systems' names, and the votes on them, read back."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations
from pathlib import Path
from typing import Annotated, Literal

import pandas as pd
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import PydanticCustomError

from arena.data.arena import Arena
from arena.data.checks import validation_problems
from arena.data.errors import DataError, Problem, UsageError
from arena.data.files import small_file
from arena.data.judge_names import PERSON
from arena.data.schema import JUDGMENTS, QUESTION_KEY
from arena.data.seeds import generator
from arena.judging.answer_pairs import ArenaTexts, Comparison, PairKey, pair_keys
from arena.judging.choosing.chosen_pairs import ChosenPairs
from arena.llm.llm_settings import canonical_json, digest

FORMAT = "surrogate-arena votes"
LONGEST_NAME = 80
ID_DIGITS = 20
MOST_PAIRS = 1000

_HINT = "export the file again from the page"
Digest = Annotated[str, Field(pattern="^[0-9a-f]{20}$")]


@dataclass(frozen=True)
class BallotPair:
    """One pair as a person sees it; the id is a digest of question, systems, sides and texts."""

    id: str
    comparison: Comparison


@dataclass(frozen=True)
class Ballot:
    """Pairs to judge, in the order drawn, and a digest of them.

    Attributes:
        left_out: Pairs chosen that are not on it, for want of room.
        identical: Pairs of the same text, which nobody needs to judge.
    """

    id: str
    arena: str
    pairs: tuple[BallotPair, ...]
    left_out: int
    identical: int


def make_ballot(arena: Arena, pairs: ChosenPairs, most: int = 60, seed: int = 0) -> Ballot:
    """Make a ballot of chosen pairs, in random order; the first ones where there are too many.

    Raises:
        UsageError: If there is no pair, or the number of most pairs is out of range.
    """
    if not 1 <= most <= MOST_PAIRS:
        raise UsageError(f"most is {most}; use 1 to {MOST_PAIRS}")
    keys = list(pair_keys(pairs.table))
    if not keys:
        raise UsageError("there is no pair of answers that differ; nothing is to be judged")
    drawn = generator(seed, "ballot", arena.info.name).permutation(len(keys))[:most]
    texts = ArenaTexts(arena)
    shown = []
    for place in drawn:
        comparison = texts.comparison(keys[place])
        texts_shown = (comparison.question, comparison.answer_a, comparison.answer_b)
        shown.append(BallotPair(pair_id(comparison.key, *texts_shown), comparison))
    return Ballot(
        id=digest(canonical_json([pair.id for pair in shown]))[:ID_DIGITS],
        arena=arena.info.name,
        pairs=tuple(shown),
        left_out=len(keys) - len(shown),
        identical=len(pairs.identical),
    )


def pair_id(key: PairKey, question: str, answer_a: str, answer_b: str) -> str:
    """Digest a pair with its sides and texts."""
    return digest(canonical_json([*key, question, answer_a, answer_b]))[:ID_DIGITS]


def pairs_by_id(arena: Arena) -> dict[str, PairKey]:
    """Return every pair of an arena's answers by its id."""
    texts, found = ArenaTexts(arena), {}
    for language in arena.info.languages:
        for query_id in texts.questions(language):
            question = (language, query_id)
            systems = texts.systems(question)
            answers = {name: texts.shown(question, name) for name in systems}
            for one, other in permutations(systems, 2):
                key = (language, query_id, one, other)
                shown = (texts.question(question), answers[one], answers[other])
                found[pair_id(key, *shown)] = key
    return found


def _printable(name: str) -> str:
    plain = " ".join(name.split())
    if not plain or any(unicodedata.category(mark)[0] == "C" for mark in plain):
        raise PydanticCustomError("name", "must be a name of printable characters")
    return plain


Name = Annotated[str, Field(max_length=LONGEST_NAME), AfterValidator(_printable)]


class Vote(BaseModel):
    """One choice: the pair's id, and which answer is better, or neither."""

    model_config = ConfigDict(strict=True, extra="forbid")

    id: Digest
    choice: Literal["a", "b", "tie"]


class VoteFile(BaseModel):
    """What a page exports; pairs that were skipped are not among the votes."""

    model_config = ConfigDict(strict=True, extra="forbid")

    format: Literal["surrogate-arena votes"]
    ballot: Digest
    voter: Name
    votes: Annotated[list[Vote], Field(max_length=MOST_PAIRS)]


def collect_votes(arena: Arena, files: Sequence[Path | str]) -> tuple[pd.DataFrame, int]:
    """Read votes back as judgments.

    Of two votes of a person on a pair, that of the later file counts.

    Returns:
        An arena's ``judgments``, the judge is ``person:NAME``; and how many votes a later file
        has again.

    Raises:
        UsageError: If a file is absent or too large.
        DataError: If a file is malformed, votes twice on a pair, or is of pairs that the arena
            does not have as they were shown; all problems of all files.
    """
    known = pairs_by_id(arena)
    rows: dict[tuple[object, ...], str] = {}
    problems: list[Problem] = []
    replaced = 0
    for path in map(Path, files):
        try:
            read = VoteFile.model_validate_json(small_file(path))
        except ValidationError as error:
            problems += validation_problems(error, path.name, None, lambda _: _HINT)
            continue
        found = list(_faults(read, known, path.name))
        problems += found
        for vote in () if found else read.votes:
            key = (f"{PERSON}{read.voter}", *known[vote.id])
            replaced += key in rows
            rows[key] = vote.choice
    if problems:
        raise DataError(problems)
    names = ["judge", *QUESTION_KEY, "system_a", "system_b"]
    table = pd.DataFrame(list(rows), columns=names, dtype=object).assign(winner=list(rows.values()))
    return table[list(JUDGMENTS.columns)].astype("str"), replaced


def _faults(read: VoteFile, known: Mapping[str, object], source: str) -> Iterator[Problem]:
    """Find votes on pairs that there are not, and pairs voted on twice."""
    seen = set[str]()
    for place, vote in enumerate(read.votes):
        field = f"votes.{place}.id"
        if vote.id not in known:
            fault = "is not a pair of this arena as it was shown"
            hint = "name the arena the ballot was made of, with the same questions and answers"
            yield Problem(source, None, field, vote.id, fault, hint)
        elif vote.id in seen:
            yield Problem(source, None, field, vote.id, "is voted on twice", _HINT)
        seen.add(vote.id)
