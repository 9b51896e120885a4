"""Ratings of new systems by their answers and some verdicts, on a board that stays as it is.

The posterior is that of adaptive pairs: what was known before the verdicts are a board's ratings,
and what its surrogate predicts.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from arena.data.errors import UsageError
from arena.data.judge_names import is_person
from arena.data.judgments import copies_of_others
from arena.data.schema import QUESTION_KEY, WEIGHT
from arena.data.wording import count_of
from arena.rating.battles import Battles
from arena.rating.posterior import PRIOR_COLUMNS, RatingPrior, battle_posterior
from arena.statistics.significance import NORMAL_90
from surrogate.board.board import Board
from surrogate.board.summary import NO_RATINGS, RatingInterval

JUDGED_COLUMNS = [
    *("language", "system", "judgments", "rating", "standard_error", "verdict_share"),
]
UNKNOWN_PRECISION = 1.0
"""Of a rating that nothing is known of, in the posterior's first guess."""
CALIBRATED = (1.0,)
"""How far the errors of what is known before are trusted: they are those of systems left out."""
COPIED = "{} left out that appear more than once: each verdict counts once"
NOT_ASKED = "{} left out, on questions that the arena does not have"
BESIDE = "{} left out, by judges that stand beside the board's own"
NOT_USED = "{} left out, not between a new system and a judged one of the board, or a new one"
OTHERS = "{} by {} count as those of one judge, beside the board's own, {}"
SHOWN_JUDGES = 5
NOBODY = "no judgment is of a new system and a judged one, on a question of the arena"
PUBLISHED = "the ratings of this board are published, so that judgments are on another scale"


def usable_judgments(board: Board, systems: set[str], judgments: pd.DataFrame) -> pd.Series:
    """Tell which judgments are of a new system against one judged on the board, or another new one.

    Args:
        board: The board.
        systems: The new systems.
        judgments: Columns ``language, system_a, system_b``.
    """
    known = {
        (language, name)
        for language, item in board.surrogate.ratings_.items()
        for name in {*item.systems, *systems}
    }
    a, b = (
        [key in known for key in zip(judgments["language"], judgments[side], strict=True)]
        for side in ("system_a", "system_b")
    )
    return pd.Series(a, judgments.index) & pd.Series(b, judgments.index) & _of(judgments, systems)


def counted_judgments(
    board: Board, systems: set[str], judgments: pd.DataFrame, queries: pd.DataFrame
) -> tuple[pd.DataFrame, list[str]]:
    """Leave out copies, and what cannot be used; say how many."""
    asked = pd.MultiIndex.from_frame(queries[QUESTION_KEY].astype(str))
    is_asked = pd.MultiIndex.from_frame(judgments[QUESTION_KEY].astype(str)).isin(asked)
    copies = copies_of_others(judgments)
    used = usable_judgments(board, systems, judgments)
    own = board.summary.judge
    by = judgments.get("judge", pd.Series(own, judgments.index))
    is_other = by.isin(board.summary.settings.other_judges)
    left = {COPIED: copies, BESIDE: is_other, NOT_ASKED: ~is_asked, NOT_USED: ~used}
    why = pd.Series(np.select(list(left.values()), list(left), ""), judgments.index)
    counts = {note: int((why == note).sum()) for note in left}
    notes = [note.format(count_of(each, "judgment")) for note, each in counts.items() if each]
    is_kept = why.isin(["", NOT_USED])
    is_unknown = is_kept & (by != own)
    if is_person(own):
        is_unknown &= ~by.map(is_person)
    others = sorted(by[is_unknown & (why == "")].unique())
    if others:
        shown = ", ".join(others[:SHOWN_JUDGES])
        if len(others) > SHOWN_JUDGES:
            shown += f" and {len(others) - SHOWN_JUDGES} more"
        counted = count_of(int((is_unknown & (why == "")).sum()), "judgment")
        notes.append(OTHERS.format(counted, shown, own))
    return _with_shared_weights(judgments[is_kept], is_unknown[is_kept]), notes


def _with_shared_weights(judgments: pd.DataFrame, is_unknown: pd.Series) -> pd.DataFrame:
    """Let all judges that a board does not know count as one judge.

    Whoever names judges can name many of them. On each question and pair, their verdicts share
    the weight of one.

    Args:
        judgments: What is counted.
        is_unknown: Which of it is by a judge that the board does not know, shape (N,).
    """
    if not is_unknown.any():
        return judgments
    unknown = judgments[is_unknown]
    names = unknown[["system_a", "system_b"]].astype(str)
    pairs = pd.DataFrame({"first": names.min(axis=1), "second": names.max(axis=1)})
    keys = [unknown[column] for column in QUESTION_KEY]
    times = pairs.groupby([*keys, pairs["first"], pairs["second"]])["first"].transform("size")
    weights = pd.Series(1.0, judgments.index)
    if WEIGHT in judgments:
        weights = pd.to_numeric(judgments[WEIGHT]).fillna(1.0)
    weights = weights.astype(np.float64)
    weights[is_unknown] /= times
    return judgments.assign(**{WEIGHT: weights})


def judged_ratings(board: Board, table: pd.DataFrame, judgments: pd.DataFrame) -> pd.DataFrame:
    """Rate new systems by their answers and verdicts, in each language.

    Before their verdicts, the systems on the board have its ratings, and new ones what the
    surrogate expects, with the error that its conformal interval tells.

    Args:
        board: The board.
        table: Feature table of the new systems' answers, with the board's features; with a column
            ``answer`` where the surrogate reads them.
        judgments: Columns ``language, query_id, system_a, system_b, winner``; those that are not
            ``usable_judgments`` do not count.

    Returns:
        ``JUDGED_COLUMNS``, a row a language and new system with judgments there: how many, the
        rating (logits) with its standard error, and how much of it rests on them.

    Raises:
        UsageError: If no judgment can be used, or the board's ratings are published.
    """
    if board.summary.is_published:
        raise UsageError(PUBLISHED)
    new = set(table["system"])
    usable = judgments[usable_judgments(board, new, judgments)]
    if board.summary.settings.ties == "drop":
        usable = usable[usable["winner"] != "tie"]
    if usable.empty:
        raise UsageError(NOBODY)
    known, rated = _before(board, table), []
    for language, rows in usable.groupby("language"):
        prior = known[known["language"] == language]
        names = sorted({*prior["system"], *rows["system_a"], *rows["system_b"]})
        battles = Battles.from_judgments(rows, systems=names)
        before = RatingPrior.of_table(prior, names, UNKNOWN_PRECISION)
        found = battle_posterior(battles, before, CALIBRATED)
        columns = {"rating": found.ratings, "error": found.standard_errors, "share": found.shares}
        after = pd.DataFrame(columns, index=list(found.systems))
        there = prior[~prior["system"].isin(new)].set_index("system")["rating"].dropna()
        level = float((there - after["rating"].reindex(there.index)).mean())  # the board's stays
        for system in sorted(new & {*rows["system_a"], *rows["system_b"]}):
            rating, error, share = after.loc[system]
            count = int(_of(rows, {system}).sum())
            rated.append([language, system, count, rating + level, error, share])
    return pd.DataFrame(rated, columns=JUDGED_COLUMNS)


def _before(board: Board, table: pd.DataFrame) -> pd.DataFrame:
    """What is known of all systems without the new verdicts: a prior's columns."""
    own, predicted = board.ratings, board.surrogate.predict(table)
    error = predicted.get("standard_error", pd.Series(np.nan, predicted.index))
    pairs = zip(predicted["language"], error.to_numpy(np.float64), strict=True)
    widths = [float(interval_of(board, name).width(np.array(one))) for name, one in pairs]
    predicted = predicted.assign(
        standard_error=(pd.Series(widths, predicted.index) / NORMAL_90).fillna(error)
    )
    error = (own["rating"] - own["low"]) / NORMAL_90
    own = own.assign(standard_error=error.where(error > 0))
    return pd.concat([part[list(PRIOR_COLUMNS)] for part in (own, predicted)], ignore_index=True)


def interval_of(board: Board, language: str) -> RatingInterval:
    """Return how wide a language's intervals are of what its surrogate predicts."""
    summary = board.summary.languages.get(language)
    return summary.interval if summary else NO_RATINGS


def _of(judgments: pd.DataFrame, systems: set[str]) -> pd.Series:
    return judgments["system_a"].isin(systems) | judgments["system_b"].isin(systems)
