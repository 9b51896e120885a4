"""Judgments in memory: checked, without copies, by language and judge; their columns as arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import compress

import numpy as np
import pandas as pd

from arena.computing.codes import distinct, looked_up, repeated_rows, text_codes, value_codes
from arena.data.checks import check_table, probability_problems, self_judgments
from arena.data.errors import DataError, UsageError, argument
from arena.data.frames import as_rows, frame_of, with_language_of
from arena.data.judges import (
    PEOPLE,
    UNKNOWN_JUDGE,
    chosen_judges,
    is_person,
    judges_named,
    names_one_judge,
)
from arena.data.languages import UNDETERMINED
from arena.data.names import name_problems, row_name_problems
from arena.data.rows import named_by_criterion, plain_table, whole_digits, with_numbers
from arena.data.schema import (
    ALL,
    BOTH_BAD,
    CHOSEN,
    CRITERION,
    DIGESTS,
    JUDGMENTS,
    PROBABILITIES,
    REPEAT,
    SIDES,
    SIDES_SHOWN,
    VERDICT_FLAGS,
    VOTER,
    WEIGHT,
    WINNERS,
)
from arena.data.types import Codes, Flags, Floats, Indices
from arena.data.wording import first_of
from arena.rating.biases import TRAIT


def named_voters(judgments: pd.DataFrame) -> Flags:
    """Return which judgments name one judge or voter, shape (N,)."""
    if "judge" not in judgments:
        return np.zeros(len(judgments), dtype=np.bool_)
    # Few distinct judges, many judgments: names are looked at once.
    judge, names = text_codes(judgments["judge"])
    is_one = _flags_of(names)[judge]
    if CRITERION in judgments:
        is_one &= _named_without_criterion(judge, names, judgments[CRITERION])
    if VOTER in judgments:
        voter, voters = text_codes(judgments[VOTER])
        is_one |= _flags_of(voters)[voter]
    return np.asarray(is_one)


def _named_without_criterion(judge: Codes, names: Sequence[str], criterion: pd.Series) -> Flags:
    codes, criteria = text_codes(criterion)
    suffixes = ["", *(f":{text}" for text in criteria)]
    # The first ones are those of missing values.
    judges = ["", *names]
    numbers = (codes.astype(np.intp) + 1) * len(judges) + judge + 1
    present = distinct(numbers, len(suffixes) * len(judges))
    bare_names = []
    for number in present.values:
        suffix, name = divmod(int(number), len(judges))
        bare_names.append(judges[name].removesuffix(suffixes[suffix]))
    return _flags_of(bare_names)[present.codes]


def _flags_of(names: Sequence[str]) -> Flags:
    """Return which names are one judge's; the last of (names + 1,) is for no name."""
    return np.array([*map(names_one_judge, names), False], dtype=np.bool_)


POINTS_OF_A = np.array([1.0, 0.0, 0.5])
"""Side A's points for each outcome, in the order of ``WINNERS``: a tie is half a win."""
TIE = WINNERS.index("tie")
MIRRORED = np.array([1, 0, TIE])
"""Index in ``WINNERS`` of each winner if the sides change places."""


def points_of_a(judgments: pd.DataFrame) -> pd.Series:
    """Return points for side A: 1, half for a tie, or expected."""
    rows, position, shares = outcome_rows(judgments)
    points = POINTS_OF_A[winner_codes(rows)]
    if shares is not None:
        points = points * shares
    return pd.Series(np.bincount(position, points, len(judgments)), index=judgments.index)


def winner_codes(judgments: pd.DataFrame) -> Codes:
    """Return the index in ``WINNERS`` of each winner, shape (N,)."""
    # Large arenas have few distinct winners: each is looked up once, not once per row.
    codes, winners = value_codes(judgments["winner"])
    numbers = pd.Index(WINNERS).get_indexer(winners.astype(object)).astype(np.int8)
    outcomes = looked_up(numbers, codes)
    is_unknown = outcomes < 0
    if is_unknown.any():
        unknown = sorted(set(judgments["winner"][is_unknown].astype(str)))
        raise UsageError(f"judgments hold an unknown winner: {', '.join(unknown)}")
    return outcomes


def sided_flags(judgments: pd.DataFrame) -> Flags | None:
    """Return which judgments showed sides, (N,); None for all."""
    if SIDES not in judgments:
        return None
    codes, values = value_codes(judgments[SIDES])
    unknown = sorted({str(value) for value in values} - set(SIDES_SHOWN))
    if unknown:
        raise UsageError(f"sides are shown or none, not {unknown[0]!r}")
    is_shown = np.array([*(value == SIDES_SHOWN[0] for value in values), True], dtype=np.bool_)
    flags = is_shown[codes]
    return None if flags.all() else flags


def shown_sides(judgments: pd.DataFrame) -> pd.DataFrame:
    """Keep the judgments of which sides were shown."""
    is_sided = sided_flags(judgments)
    return judgments if is_sided is None else judgments[is_sided]


def side_codes(
    judgments: pd.DataFrame, systems: Sequence[str] = ()
) -> tuple[Codes, Codes, pd.Index]:
    """Code both sides by sorted names of systems, (N,) each; -1 where a name is missing."""
    code_a, names_a = text_codes(judgments["system_a"])
    code_b, names_b = text_codes(judgments["system_b"])
    names = pd.Index(sorted({*names_a, *names_b, *systems}), dtype=object)
    side_a = looked_up(names.get_indexer(names_a).astype(np.int32), code_a)
    side_b = looked_up(names.get_indexer(names_b).astype(np.int32), code_b)
    return side_a, side_b, names


def sideless_by_name(judgments: pd.DataFrame) -> pd.DataFrame:
    """Put the first by name on side A where sides were not shown."""
    is_sided = sided_flags(judgments)
    if is_sided is None:
        return judgments
    side_a, side_b, names = side_codes(judgments)
    is_swapped = ~is_sided & (side_a > side_b)
    winner = winner_codes(judgments)
    mirrored = MIRRORED[winner]
    columns = {
        "system_a": pd.Categorical.from_codes(np.where(is_swapped, side_b, side_a), names),
        "system_b": pd.Categorical.from_codes(np.where(is_swapped, side_a, side_b), names),
        "winner": np.array(WINNERS, dtype=object)[np.where(is_swapped, mirrored, winner)],
    }
    table = judgments.assign(**columns)
    for first, second in (PROBABILITIES, DIGESTS):
        if first in table and second in table:
            swapped = judgments[[second, first]].to_numpy()[is_swapped]
            table.loc[is_swapped, [first, second]] = swapped
    for name in table:
        if str(name).startswith(TRAIT):
            table[name] = judgments[name].where(~is_swapped, -judgments[name])
    return table


def weights_of(judgments: pd.DataFrame) -> Floats | None:
    """Return how many judgments each row counts, (N,); None for one each."""
    if WEIGHT not in judgments:
        return None
    is_given = judgments[WEIGHT].notna().to_numpy()
    if not is_given.any():
        return None
    numbers = pd.to_numeric(judgments[WEIGHT], errors="coerce").to_numpy(np.float64)
    is_sound = np.isfinite(numbers) & (numbers > 0)
    is_faulty = is_given & ~is_sound
    if is_faulty.any():
        faulty = judgments[WEIGHT].iloc[int(np.argmax(is_faulty))]
        raise UsageError(f"the weight {faulty} of a judgment is not a finite number above 0")
    weights = np.where(is_given, numbers, 1.0)
    if (weights == 1.0).all():
        return None
    return weights


def judge_codes(judgments: pd.DataFrame) -> tuple[Indices | None, tuple[str, ...]]:
    """Number judges, and list names; None if there is one."""
    if "judge" not in judgments:
        return None, ("",)
    codes, written = text_codes(judgments["judge"])
    names = [PEOPLE if is_person(name) else name for name in written]
    judges = sorted(set(names))
    if len(judges) == 1:
        return None, tuple(judges)
    positions = {name: number for number, name in enumerate(judges)}
    numbers = np.array([positions[name] for name in names], dtype=np.intp)
    return numbers[codes], tuple(judges)


def voter_codes(judgments: pd.DataFrame) -> Codes | None:
    """Number voters, (N,); -1 where not named, None if nowhere."""
    if VOTER not in judgments:
        return None
    codes, names = text_codes(judgments[VOTER])
    is_named = _flags_of(names)[codes]
    return np.where(is_named, codes, -1) if is_named.any() else None


def outcome_rows(judgments: pd.DataFrame) -> tuple[pd.DataFrame, Indices, Floats | None]:
    """Replace each soft judgment by one row per likely outcome.

    Returns:
        The rows; each one's judgment, (N,); weights, (N,), that sum to 1, or None if none is soft.
    """
    indices = np.arange(len(judgments), dtype=np.intp)
    is_soft = soft_flags(judgments)
    if not is_soft.any():
        return judgments, indices, None
    # Without an id the rows of one judgment would count as questions of their own.
    if "query_id" not in judgments:
        raise UsageError("judgments with probability_a and probability_b need a query_id")
    shares = checked_shares(judgments.loc[is_soft, list(PROBABILITIES)])
    hard = indices[~is_soft]
    soft = indices[is_soft]
    position = np.concatenate([hard, np.repeat(soft, len(WINNERS))])
    weight = np.concatenate([np.ones(len(hard)), shares.ravel()])
    hard_winners = judgments["winner"].to_numpy(dtype=object)[hard]
    soft_winners = np.tile(np.array(WINNERS, dtype=object), len(soft))
    winner = np.concatenate([hard_winners, soft_winners])
    is_possible = np.flatnonzero(weight > 0)
    # A stable sort puts the rows back in the order of their judgments.
    order = is_possible[np.argsort(position[is_possible], kind="stable")]
    rows = judgments.iloc[position[order]].reset_index(drop=True).assign(winner=winner[order])
    return rows, position[order], weight[order]


def soft_flags(judgments: pd.DataFrame) -> Flags:
    """Return which judgments have probabilities, shape (N,)."""
    absent = [name for name in PROBABILITIES if name not in judgments]
    if len(absent) == len(PROBABILITIES):
        return np.zeros(len(judgments), dtype=np.bool_)
    if absent:
        both = " and ".join(PROBABILITIES)
        raise UsageError(f"judgments need {both}, or neither; add {absent[0]}")
    return np.asarray(judgments[list(PROBABILITIES)].notna().any(axis=1), dtype=np.bool_)


def checked_shares(probabilities: pd.DataFrame) -> Floats:
    """Return probabilities in the order of ``WINNERS``, shape (N, 3)."""
    numbers = probabilities.apply(pd.to_numeric, errors="coerce").to_numpy(np.float64)
    tie = 1.0 - numbers.sum(axis=1)
    shares = np.column_stack([numbers, tie])
    # Probabilities written with few digits may sum to slightly more than 1.
    rounding = 1e-9
    if not (np.isfinite(shares).all() and (shares >= -rounding).all()):
        raise UsageError(
            "a judgment has no sound probability_a and probability_b: each from 0 to 1, "
            "together at most 1"
        )
    return np.where(shares < rounding, 0.0, shares)


def question_codes(judgments: pd.DataFrame) -> tuple[Indices, tuple[str, ...]]:
    """Number questions, and list their sorted ids, if any."""
    if "query_id" not in judgments:
        return np.arange(len(judgments)), ()
    codes, ids = value_codes(judgments["query_id"])
    if (codes < 0).any():
        raise UsageError("judgments hold a question without a query_id")
    if "language" in judgments:
        language, languages = text_codes(judgments["language"])
        if len(languages) > 1:
            number = language.astype(np.intp) * len(ids) + codes
            present = distinct(number, len(languages) * len(ids))
            of_language, of_id = np.divmod(present.values, len(ids))
            names = pd.Index(languages, dtype="str")[of_language]
            ids = names + "/" + ids[of_id].astype("str")
            codes = present.codes
    order, sorted_ids = pd.factorize(ids, sort=True)
    return looked_up(order, codes), tuple(sorted_ids.tolist())


def copies_of_others(judgments: pd.DataFrame) -> Flags:
    """Return which judgments are copies, (N,), as of a file joined twice.

    They name a judge or voter: else equal rows are several votes.
    """
    if "query_id" not in judgments:
        return np.zeros(len(judgments), dtype=np.bool_)
    is_named = named_voters(judgments)
    if not is_named.any():
        return is_named
    if is_named.all():
        return repeated_rows(judgments)
    is_copy = np.zeros(len(judgments), dtype=np.bool_)
    is_copy[is_named] = repeated_rows(judgments[is_named])
    return is_copy


def checked_judgments(
    judgments: pd.DataFrame, questions: pd.DataFrame | None = None
) -> pd.DataFrame:
    """Check and complete judgments in memory, as ``read_judgments`` does a file.

    Without a language they get their question's, if its id is unique.
    """
    rows = as_rows(plain_table(frame_of(judgments, "judgments")), JUDGMENTS.name)
    if rows.table.empty:
        raise UsageError("judgments: there is no judgment in it")
    if questions is not None:
        rows = with_language_of(rows, questions)
    rows = replace(rows, table=_completed(rows.table))
    problems = check_table(rows, JUDGMENTS)
    if not problems:
        names = {*rows.table["system_a"], *rows.table["system_b"]}
        problems = [
            *self_judgments(rows),
            *probability_problems(rows),
            *name_problems(names, rows.source, "system"),
            *row_name_problems(rows, "judge"),
        ]
    if problems:
        raise DataError(problems)
    complete = named_by_criterion(rows.table)
    table = with_known_columns(complete).astype(dict.fromkeys(JUDGMENTS.columns, "str"))
    table = with_numbers(table, PROBABILITIES)
    return _numbered(table, is_copy=copies_of_others(sideless_by_name(complete)))


def _completed(table: pd.DataFrame) -> pd.DataFrame:
    columns: dict[str, object] = {}
    if "query_id" in table:
        columns["query_id"] = [whole_digits(value) or value for value in table["query_id"]]
    else:
        columns["query_id"] = [f"battle-{number}" for number in range(1, len(table) + 1)]
    if "language" not in table:
        columns["language"] = UNDETERMINED
    if "judge" in table:
        is_unnamed = table["judge"].isna() | (table["judge"] == "")
        columns["judge"] = table["judge"].astype(object).where(~is_unnamed, UNKNOWN_JUDGE)
    else:
        columns["judge"] = UNKNOWN_JUDGE
    return table.assign(**columns).astype(object)


def with_known_columns(table: pd.DataFrame, further: Sequence[str] = ()) -> pd.DataFrame:
    """Keep the columns that this project reads, and further ones."""
    optional = [CRITERION, CHOSEN, *PROBABILITIES]
    optional += [SIDES, VOTER, WEIGHT, BOTH_BAD, REPEAT, VERDICT_FLAGS]
    optional += [name for name in further if name not in (*JUDGMENTS.columns, *optional)]
    return table[[*JUDGMENTS.columns, *(name for name in optional if name in table)]]


def _numbered(table: pd.DataFrame, is_copy: Flags) -> pd.DataFrame:
    votes = table.drop(columns=VERDICT_FLAGS, errors="ignore")
    is_repeat = copies_of_others(votes) & ~is_copy
    if not is_repeat.any():
        return table
    numbers = table.groupby([votes[name].astype(str) for name in votes]).cumcount() + 1
    repeat = table.get(REPEAT, pd.Series(None, table.index, dtype=object)).astype(object)
    return table.assign(**{REPEAT: repeat.where(~is_repeat, numbers.astype(str))})


def selected_judgments(
    judgments: pd.DataFrame, language: str | None = None, judge: str | None = None
) -> pd.DataFrame:
    """Keep the judgments of one language and one judge."""
    is_selected = np.ones(len(judgments), dtype=np.bool_)
    if "language" in judgments:
        codes, names = text_codes(judgments["language"])
        here = first_of(sorted(names))
        if language is None and len(names) > 1:
            choice = f"choose one, or all, by {argument('language')}"
            raise UsageError(f"several languages ({here}): {choice}")
        if language not in (None, ALL, *names):
            raise UsageError(f"no language {language!r} here; available: {here}")
        if language in names:
            is_selected = codes == names.index(language)
    if "judge" in judgments and judge != ALL and is_selected.any():
        codes, names = text_codes(judgments["judge"])
        present = np.zeros(len(names) + 1, dtype=np.bool_)
        present[codes[is_selected]] = True
        listed = sorted(compress(names, present))
        if judge is None:
            judge = chosen_judges(listed)[0]
        chosen = set(judges_named(listed, judge))
        is_named = [name in chosen for name in names]
        is_selected &= np.array([*is_named, False], dtype=np.bool_)[codes]
    if not is_selected.all():
        judgments = judgments[is_selected]
    return judgments.reset_index(drop=True)
