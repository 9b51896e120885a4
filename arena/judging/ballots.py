"""Ballots: pairs of answers for people to judge, without systems' names; and reading votes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import permutations
from pathlib import Path
from typing import Annotated, Literal, NamedTuple
from unicodedata import category, normalize

import pandas as pd
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import PydanticCustomError

from arena.data.answer_digests import with_digests
from arena.data.arena import Arena
from arena.data.checks import validation_problems
from arena.data.errors import DataError, Problem, UsageError
from arena.data.files import small_file
from arena.data.judges import PERSON, is_person
from arena.data.names import hides_characters
from arena.data.schema import JUDGMENT_KEY, JUDGMENTS
from arena.judging.answer_pairs import ArenaTexts, Comparison, PairKey, pair_keys
from arena.judging.choosing.chosen_pairs import ChosenPairs
from arena.llm.requests import canonical_json, digest
from arena.statistics.bootstrap import generator

FORMAT = "surrogate-arena votes"
LONGEST_NAME = 80
ID_DIGITS = 20
MOST_PAIRS = 1000
EXPORT_AGAIN = "export the file again from the page"

Digest = Annotated[str, Field(pattern="^[0-9a-f]{20}$")]


class BallotPair(NamedTuple):
    """A pair as a person sees it; its id digests systems, sides and texts."""

    id: str
    comparison: Comparison


class Ballot(NamedTuple):
    """Pairs to judge, in the order drawn, and a digest of them.

    Attributes:
        left_out: Number of pairs beyond ``most``.
        identical: Number of pairs of the same text.
    """

    id: str
    arena: str
    pairs: tuple[BallotPair, ...]
    left_out: int
    identical: int


def make_ballot(arena: Arena, pairs: ChosenPairs, most: int = 60, seed: int = 0) -> Ballot:
    """Make a ballot of chosen pairs in random order.

    Args:
        arena: Questions and answers.
        pairs: What to judge.
        most: Maximum number of pairs; of more, the first.
        seed: Seed of the order.

    Returns:
        The ballot, without names of systems.

    Raises:
        UsageError: If there is no pair, or ``most`` is out of range.

    Examples:
        >>> from arena import sample_arena
        >>> from arena.judging import choose_pairs
        >>> arena = sample_arena()
        >>> len(make_ballot(arena, choose_pairs(arena, questions=2, pairs=3)).pairs)
        6
    """
    if not 1 <= most <= MOST_PAIRS:
        raise UsageError(f"most is {most}; use 1 to {MOST_PAIRS}")
    keys = list(pair_keys(pairs.table))
    if not keys:
        raise UsageError("there is no pair of answers that differ; nothing is to be judged")
    order = generator(seed, "ballot", arena.info.name).permutation(len(keys))[:most]
    texts = ArenaTexts(arena)
    ballot_pairs = [ballot_pair(texts, keys[index]) for index in order]
    return Ballot(
        id=digest(canonical_json([pair.id for pair in ballot_pairs]))[:ID_DIGITS],
        arena=arena.info.name,
        pairs=tuple(ballot_pairs),
        left_out=len(keys) - len(ballot_pairs),
        identical=len(pairs.identical),
    )


def ballot_pair(texts: ArenaTexts, key: PairKey) -> BallotPair:
    """Return a pair as a person sees it (else UsageError)."""
    comparison = texts.comparison(key)
    digest_of_pair = pair_id(key, comparison.question, comparison.answer_a, comparison.answer_b)
    return BallotPair(id=digest_of_pair, comparison=comparison)


def pair_id(key: PairKey, question: str, answer_a: str, answer_b: str) -> str:
    """Digest a pair with its sides and texts."""
    return digest(canonical_json([*key, question, answer_a, answer_b]))[:ID_DIGITS]


def pairs_by_id(arena: Arena) -> dict[str, PairKey]:
    """Return every pair of answers, in both orders, by id."""
    texts = ArenaTexts(arena)
    pairs: dict[str, PairKey] = {}
    for language in arena.info.languages:
        for query_id in texts.questions(language):
            question = (language, query_id)
            query = texts.question(question)
            systems = texts.systems(question)
            answers = {system: texts.shown(question, system) for system in systems}
            for system_a, system_b in permutations(systems, 2):
                key = (language, query_id, system_a, system_b)
                pairs[pair_id(key, query, answers[system_a], answers[system_b])] = key
    return pairs


def _printable(name: str) -> str:
    # Two voters of one name, typed in two forms, would be one whom the arena's checks refuse.
    plain = " ".join(normalize("NFC", name).split())
    is_control = any(category(character)[0] == "C" for character in plain)
    if not plain or is_control or hides_characters(plain):
        raise PydanticCustomError("name", "must be a name of printable characters")
    return plain


def judges_by_name(arena: Arena) -> dict[str, str]:
    """Return the arena's spelling of people's names, by NFC."""
    judges = filter(is_person, arena.judgments["judge"].unique())
    return {normalize("NFC", judge.removeprefix(PERSON)): judge for judge in judges}


Name = Annotated[str, Field(max_length=LONGEST_NAME), AfterValidator(_printable)]


class Vote(BaseModel):
    """A choice: the pair's id, and the better answer, or neither."""

    model_config = ConfigDict(strict=True, extra="forbid")

    id: Digest
    choice: Literal["a", "b", "tie"]


class NamedVote(Vote):
    """A choice with its voter, as sent to a server."""

    voter: Name


class VoteFile(BaseModel):
    """A file that a page exports; skipped pairs are absent."""

    model_config = ConfigDict(strict=True, extra="forbid")

    format: Literal["surrogate-arena votes"]
    ballot: Digest
    voter: Name
    votes: Annotated[list[Vote], Field(max_length=MOST_PAIRS)]


def collect_votes(arena: Arena, files: Sequence[Path | str]) -> tuple[pd.DataFrame, int]:
    """Read votes back as judgments; a person's later file counts.

    Args:
        arena: The ballot's arena.
        files: Exported by the ballot's page.

    Returns:
        An arena's ``judgments`` with ``DIGESTS`` and ``person:NAME`` as judge; and how many votes
        were replaced.

    Raises:
        UsageError: If a file is absent or too large.
        DataError: With all problems: malformed files, two votes on a pair, pairs that the arena
            does not have as shown.
    """
    pairs = pairs_by_id(arena)
    judges = judges_by_name(arena)
    choices: dict[tuple[str, ...], str] = {}
    problems: list[Problem] = []
    n_replaced = 0
    for path in map(Path, files):
        try:
            vote_file = VoteFile.model_validate_json(small_file(path))
        except ValidationError as error:
            problems += validation_problems(error, path.name, None, lambda _: EXPORT_AGAIN)
            continue
        file_problems = list(_problems(vote_file, pairs, path.name))
        if file_problems:
            problems += file_problems
            continue
        judge = judges.get(vote_file.voter, f"{PERSON}{vote_file.voter}")
        for vote in vote_file.votes:
            key = (judge, *pairs[vote.id])
            n_replaced += key in choices
            choices[key] = vote.choice
    if problems:
        raise DataError(problems)
    table = pd.DataFrame(list(choices), columns=JUDGMENT_KEY, dtype=object)
    table["winner"] = list(choices.values())
    table = table[list(JUDGMENTS.columns)].astype("str")
    # Each id is a digest of the texts that were shown: they are those of the arena.
    return with_digests(table, arena.answers), n_replaced


def _problems(vote_file: VoteFile, pairs: Mapping[str, PairKey], source: str) -> Iterator[Problem]:
    voted: set[str] = set()
    for index, vote in enumerate(vote_file.votes):
        field = f"votes.{index}.id"
        if vote.id not in pairs:
            fault = "is not a pair of this arena as it was shown"
            hint = "name the arena the ballot was made of, with the same questions and answers"
            yield Problem(source, None, field, vote.id, fault, hint)
        elif vote.id in voted:
            yield Problem(source, None, field, vote.id, "is voted on twice", EXPORT_AGAIN)
        voted.add(vote.id)
