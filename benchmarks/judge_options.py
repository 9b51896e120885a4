"""The option ``--judge ARENA=JUDGE``, by which benchmarks choose one of an arena's judges."""

from __future__ import annotations

import argparse
from collections.abc import Sequence


def add_judge_option(parser: argparse.ArgumentParser) -> None:
    """Add ``--judge``, which may be given for each of several arenas."""
    parser.add_argument("--judge", action="append", default=[], help="ARENA=JUDGE, repeatable")


def pairs_of_names(texts: Sequence[str]) -> list[tuple[str, str]]:
    """Read ``ARENA=VALUE`` arguments: the arena's name and the value of each, in their order."""
    pairs = []
    for text in texts:
        arena, value = text.split("=", 1)
        pairs.append((arena, value))
    return pairs
