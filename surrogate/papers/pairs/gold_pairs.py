"""Pairs of answers of which one is known to be better: of tables, or by the votes of an arena."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd

from arena.adapters.columns import NO_COLUMNS
from arena.data.arena import Arena
from arena.data.errors import UsageError
from arena.data.folder import read_arena
from arena.data.judge_names import PEOPLE, is_derived, is_person, judges_named
from arena.data.schema import INFO_FILE
from arena.diagnostics.verdicts import QUESTION_PAIR, majorities, verdicts
from surrogate.papers.pairs.pair_tables import GOLD_COLUMNS, read_pair_table


@dataclass(frozen=True)
class GoldPairs:
    """Pairs of answers of which one is known to be better.

    Attributes:
        name: Name of the data; of the pairs of an arena, who decides them.
        pairs: One row per pair, columns ``GOLD_COLUMNS``.
        arena: Questions and answers; and judgments, where the pairs are those of an arena.
        reference: Judges who say which answer is better; none where the data say it.
        skipped: Number of pairs that are left out, by reason.
    """

    name: str
    pairs: pd.DataFrame
    arena: Arena
    reference: tuple[str, ...] = ()
    skipped: Mapping[str, int] = field(default_factory=dict)

    @property
    def recorded_judges(self) -> list[str]:
        """LLM judges with verdicts in the arena, but for the reference and panels."""
        judges = sorted(set(self.arena.judgments["judge"]) - set(self.reference))
        return [name for name in judges if not is_person(name) and not is_derived(name)]


def read_gold_pairs(
    path: Path | str,
    columns: Mapping[str, str] = NO_COLUMNS,
    reference: str | None = None,
    languages: Sequence[str] = (),
) -> GoldPairs:
    """Read pairs of which one answer is known to be better.

    A table has a question and two answers a row: ``positive_response`` and ``negative_response``,
    as ContextualJudgeBench is published, or ``answer_a``, ``answer_b`` and ``winner``; and may have
    ``problem_id``, ``context``, ``split`` and ``language``. Other names of these columns are in
    ``columns.toml``. Without a column, the split is the name of the file.

    Args:
        path: An arena folder, whose reference judges say which answer is better; else a file in
            any format of tables, or a folder of such files.
        columns: Field to the column it is read from, where its name is another. Tables only.
        reference: Judges of an arena who are right, by majority; by default its people.
        languages: Languages to keep; by default all.

    Raises:
        UsageError: If there is no such file, judge or language, or no pair of which one answer is
            better.
        DataError: With every problem: file, line, field, value and hint.
    """
    path = Path(path)
    if path.is_dir() and (path / INFO_FILE).is_file():
        return gold_pairs_of_arena(read_arena(path).part(languages or None), reference)
    if reference is not None:
        raise UsageError("a reference is a judge of an arena; the table says who is better")
    table = read_pair_table(path, columns, languages)
    return GoldPairs(table.name, table.pairs, table.arena, skipped=table.skipped)


def gold_pairs_of_arena(arena: Arena, reference: str | None = None) -> GoldPairs:
    """Return the pairs that the majority of an arena's people (or other judges) decides.

    Raises:
        UsageError: If there is no such judge, no person, or no pair with a majority.
    """
    names = sorted(set(arena.judgments["judge"]))
    if reference is None and not any(map(is_person, names)):
        raise UsageError(
            f"nobody has voted in {arena.info.name}; name judges who are right (--reference): "
            f"{', '.join(names) or 'there is none'}"
        )
    judges = judges_named(names, reference or PEOPLE)
    votes = verdicts(arena.judgments[arena.judgments["judge"].isin(judges)])
    items = majorities(votes, QUESTION_PAIR)
    decided = items[items["outcome"] != 0]
    if decided.empty:
        raise UsageError(
            f"{arena.info.name} holds no pair of which one answer is known to be better"
        )
    pairs = decided.rename(columns={"first": "system_a", "second": "system_b"})
    pairs = pairs.assign(
        split=pairs["language"],
        question=pairs["language"] + "\x1f" + pairs["query_id"],
        better=pairs["outcome"].map({1: "a", -1: "b"}),
    )
    n_undecided = len(items) - len(decided)
    return GoldPairs(
        name=PEOPLE if reference is None else "+".join(judges),
        pairs=pairs[GOLD_COLUMNS].reset_index(drop=True),
        arena=arena,
        reference=judges,
        skipped={"no majority for either answer": n_undecided} if n_undecided else {},
    )
