"""A step of a board: what it is made from, and how."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from surrogate.regeneration.digests import Digests
from surrogate.regeneration.manifest import Option

Progress = Callable[[str, int, int], None]
Wanted = Callable[[str], bool]


def only(*names: str) -> Wanted:
    """Want these files of a stage."""
    return lambda name: name in names


def all_but(*names: str) -> Wanted:
    """Want all files of a stage but these."""
    return lambda name: name not in names


@dataclass(frozen=True)
class Place:
    """Where a step works.

    Attributes:
        out: Output folder of all boards.
        board: Folder of the board; each step has a folder in it.
        target: Empty folder for the step's files; it takes its place once they are whole.
        n_jobs: Processes to use.
        progress: Called as the step advances.
    """

    out: Path
    board: Path
    target: Path
    n_jobs: int = 1
    progress: Progress | None = None

    def of(self, stage: str) -> Path:
        """Return the folder of another stage of the board."""
        return self.board / stage


@dataclass(frozen=True)
class Step:
    """One step of a board.

    Attributes:
        board: Name of the board.
        stage: Name of the stage, and of its folder.
        make: Makes it; returns why it is to be run again though nothing changes, or nothing.
        files: Digests the files it reads from elsewhere.
        upstream: Stage to which of its files matter here, by their names.
        options: What it is told.
        versions: Versions of what it is computed by.
    """

    board: str
    stage: str
    make: Callable[[Place], str]
    files: Callable[[], Digests] = dict
    upstream: Mapping[str, Wanted] = field(default_factory=dict)
    options: Mapping[str, Option] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Its name in the manifest."""
        return f"{self.board}/{self.stage}"
