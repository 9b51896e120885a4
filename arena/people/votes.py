"""What people voted, read back from their files: untrusted, and checked like every other input."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import pandas as pd
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import PydanticCustomError

from arena.data.arena import Arena
from arena.data.errors import DataError, Problem, UsageError
from arena.data.files import small_file
from arena.data.rows import read_rows
from arena.data.schema import JUDGMENTS, QUESTION_KEY, validation_problems
from arena.people.ballot import MOST_PAIRS, pairs_by_id

PREFIX = "person:"
"""Before the name of whoever voted in the ``judge`` column, so that nobody passes for a model."""
FORMAT = "surrogate-arena votes"
MOST_BYTES = 4 * 2**20
LONGEST_NAME = 80

_CSV_COLUMNS = ["ballot", "voter", "id", "choice"]
_HINT = "export the file again from the page"


def _printable(name: str) -> str:
    plain = " ".join(name.split())
    if not plain or any(unicodedata.category(mark)[0] == "C" for mark in plain):
        raise PydanticCustomError("name", "must be a name of printable characters")
    return plain


Name = Annotated[str, Field(max_length=LONGEST_NAME), AfterValidator(_printable)]
Digest = Annotated[str, Field(pattern="^[0-9a-f]{20}$")]


class Vote(BaseModel):
    """One choice.

    Attributes:
        id: The pair's.
        choice: Which answer is better, or neither.
    """

    model_config = ConfigDict(strict=True, extra="forbid")

    id: Digest
    choice: Literal["a", "b", "tie"]


class VoteFile(BaseModel):
    """What a page exports.

    Attributes:
        format: ``surrogate-arena votes``.
        ballot: The ballot's digest.
        voter: Who voted.
        votes: The choices; pairs that were skipped are not among them.
    """

    model_config = ConfigDict(strict=True, extra="forbid")

    format: Literal["surrogate-arena votes"]
    ballot: Digest
    voter: Name
    votes: Annotated[list[Vote], Field(max_length=MOST_PAIRS)]


@dataclass(frozen=True)
class CollectedVotes:
    """Judgments by people.

    Attributes:
        judgments: An arena's ``judgments``; the judge is ``person:NAME``.
        replaced: Votes of a person on a pair that a later file has again.
        voters: Columns ``judge, votes``.
    """

    judgments: pd.DataFrame
    replaced: int
    voters: pd.DataFrame


def collect_votes(arena: Arena, files: Sequence[Path | str]) -> CollectedVotes:
    """Read votes back as judgments.

    Args:
        arena: The arena the ballots were made of.
        files: JSON or CSV files that pages exported; of two votes of a person on a pair, that of
            the later file counts.

    Raises:
        UsageError: If a file is absent, too large or of another kind.
        DataError: If a file is malformed, votes twice on a pair, or is of pairs that the arena
            does not have as they were shown; all problems of all files.
    """
    known = pairs_by_id(arena)
    rows: dict[tuple[object, ...], str] = {}
    problems: list[Problem] = []
    replaced = 0
    for path in map(Path, files):
        try:
            read = read_votes(path)
        except DataError as error:
            problems += error.problems
            continue
        found = list(_faults(read, known, path.name))
        problems += found
        if found:
            continue
        for vote in read.votes:
            key = (f"{PREFIX}{read.voter}", *known[vote.id])
            replaced += key in rows
            rows[key] = vote.choice
    if problems:
        raise DataError(problems)
    names = ["judge", *QUESTION_KEY, "system_a", "system_b"]
    table = pd.DataFrame(list(rows), columns=names, dtype=object).assign(winner=list(rows.values()))
    judgments = table[list(JUDGMENTS.columns)].astype("str")
    voters = judgments.groupby("judge").size().rename("votes").reset_index()
    return CollectedVotes(judgments, replaced, voters)


def read_votes(path: Path) -> VoteFile:
    """Read one file of votes.

    Raises:
        UsageError: If it is absent, too large or of another kind.
        DataError: If it is malformed.
    """
    if not path.is_file():
        raise UsageError(f"there is no file of votes at {path}")
    if path.stat().st_size > MOST_BYTES:
        raise UsageError(f"{path} is larger than {MOST_BYTES:,} bytes, which no ballot's votes are")
    suffix = path.suffix.lower()
    if suffix not in (".json", ".csv"):
        raise UsageError(f"{path} is no file of votes; give the .json or .csv of the page")
    try:
        if suffix == ".csv":
            return VoteFile.model_validate(_of_csv(path))
        return VoteFile.model_validate_json(small_file(path))
    except ValidationError as error:
        raise DataError(validation_problems(error, path.name, None, lambda _: _HINT)) from error


def _of_csv(path: Path) -> dict[str, object]:
    rows = read_rows(path)
    problems = list(rows.problems)
    if not problems and list(rows.table.columns) != _CSV_COLUMNS:
        expected = ", ".join(_CSV_COLUMNS)
        fault = f"the columns are not {expected}"
        problems = [Problem(path.name, 1, None, list(rows.table.columns), fault, _HINT)]
    if not problems:
        for column in ("ballot", "voter"):
            if rows.table[column].nunique(dropna=False) != 1:
                fault = "differs between rows, or there is none"
                problems.append(Problem(path.name, None, column, None, fault, _HINT))
    if problems:
        raise DataError(problems)
    table = rows.table
    return {
        "format": FORMAT,
        "ballot": table["ballot"].iloc[0],
        "voter": table["voter"].iloc[0],
        "votes": table[["id", "choice"]].to_dict("records"),
    }


def _faults(read: VoteFile, known: Mapping[str, object], source: str) -> list[Problem]:
    """Find votes on pairs that there are not, and pairs voted on twice."""
    found, seen = [], set[str]()
    for place, vote in enumerate(read.votes):
        field = f"votes.{place}.id"
        if vote.id not in known:
            fault = "stands for no pair of this arena as it was shown"
            hint = "name the arena the ballot was made of, with the same questions and answers"
            found.append(Problem(source, None, field, vote.id, fault, hint))
        elif vote.id in seen:
            found.append(Problem(source, None, field, vote.id, "is voted on twice", _HINT))
        seen.add(vote.id)
    return found
