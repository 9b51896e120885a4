"""Placing new systems on an existing board, whose rows stay as they are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from arena.adapters.judgments import checked_judgments
from arena.data.arena import Arena
from arena.data.errors import UsageError
from arena.data.folder import open_arena
from arena.data.frames import notebook_html, open_answers
from arena.data.schema import QUESTION_KEY
from arena.data.systems import alike
from arena.data.wording import count_of
from arena.rating.battles import copies_of_others
from arena.statistics.significance import NORMAL_90
from features.declare.feature import Feature
from features.engine.extraction import extract
from features.measures.registry import parse_features, with_templates
from features.models.scorer import ModelOptions
from surrogate.board.board import Board, open_board
from surrogate.board.ratings.table import BEYOND, absence
from surrogate.board.summarize import fingerprint
from surrogate.board.summary import NO_RATINGS, POOLED, UNPROVEN, RatingInterval
from surrogate.board.tables import DECIMALS, RATINGS
from surrogate.integrity.copies import near_copies
from surrogate.integrity.coverage import Key, variances_of_coverage, widened
from surrogate.integrity.notes import Note, look_at
from surrogate.integrity.standing import Looks, Standing
from surrogate.learning.languages import with_answers
from surrogate.learning.outside import systems_outside
from surrogate.learning.surrogate import KEYS, known_features
from surrogate.ranking.judged import JUDGED_COLUMNS, judged_ratings, usable_judgments

NEW = "new"
NOT_JUDGED = pd.DataFrame(columns=JUDGED_COLUMNS)
SUBSTANTIAL_SHARE = 0.5
"""Of a rating's information from verdicts on the system, from which they bound it from above."""
NOTHING_SEEN = Looks()
NO_VERDICTS = (
    "this is a first board: nobody has judged, so that no surrogate can place new systems. Add "
    "their answers to the arena and build the board again, or judge some pairs first"
)
COPIED = "{} left out that stand there more than once: each verdict counts once"
NOT_ASKED = "{} left out, on questions that the arena does not have"
NOT_USED = "{} left out, not between a new system and a judged one of the board, or a new one"
NO_SURROGATE = "the board has no surrogate for this language"
OUTSIDE = "unlike the systems the surrogate was trained on"
ROW = "_row"
NEW_COLUMNS = [
    *("language", "system", "rank", "rank_low", "rank_high", "rating", "low", "high"),
    *("surrogate_rating", "judgments", "verdict_share", "coverage", "answers", "note"),
]
LISTS = ("seen", "outside_training")
EXPLANATION_COLUMNS = ["language", "system", *LISTS]
DTYPES = {
    **dict.fromkeys(("language", "system", "split", "note"), "str"),
    **dict.fromkeys(("rank", "rank_low", "rank_high", "tier", "arena_rank"), "Int64"),
    **dict.fromkeys(LISTS, "object"),
    **dict.fromkeys(("answers", "judgments"), "int64"),
}


@dataclass(frozen=True)
class RankedSystems:
    """A board with new systems placed on it.

    Attributes:
        board: The board's rows as published plus one a new system and language, with ``split``
            ``new``; sorted by language and rank.
        overall: The overall rows as published plus one a new system.
        features: Feature table of the new answers.
        new: Ratings of the new systems by language and rank: columns ``language, system, rank,
            rank_low, rank_high`` (the ranks a rating takes between ``low`` and ``high``),
            ``rating, low, high, surrogate_rating, judgments, verdict_share, coverage,
            answers, note``: where there are judgments, the rating is by these and the surrogate
            together.
        explanations: Row by row ``language, system, seen`` (a list of entries; see ``Note``) and
            ``outside_training`` (the features in which a system is unlike the training systems;
            None where it is not).
        notes: What limits the board for new systems, and why some of this is not known, or not
            well.
    """

    board: pd.DataFrame
    overall: pd.DataFrame
    features: pd.DataFrame
    new: pd.DataFrame
    explanations: pd.DataFrame
    notes: tuple[str, ...]

    def _repr_html_(self) -> str:
        """Show the new systems in a notebook, by language and rank."""
        said = " ".join(f"{note[:1].upper()}{note[1:]}." for note in self.notes)
        return notebook_html("New systems on the board", said, self.new)

    def __repr__(self) -> str:
        """Say where the new systems stand."""
        places = [
            f"{system} ({language}): {'–' if pd.isna(rank) else rank}"
            for language, system, rank in self.new[["language", "system", "rank"]].to_numpy()
        ]
        return f"<RankedSystems by rank: {', '.join(places)}>"


def rank_systems(
    board: Board | Path | str,
    answers: pd.DataFrame | Path | str,
    arena: Arena | Path | str | None = None,
    n_jobs: int = 1,
    models: ModelOptions | None = None,
    *,
    feature_table: pd.DataFrame | None = None,
    judgments: pd.DataFrame | None = None,
) -> RankedSystems:
    """Rank new systems by their answers, and by verdicts where there are some.

    A new system's rank is the place it would take: one more than the number of the board's
    systems with a higher rating. The board's own ranks and ratings do not change. With verdicts or
    without, a system has no rank where its answers are too few (``needed_answers``), one text
    whatever was asked, or fit other questions as well as their own (``look_at``); without verdicts,
    it has none where the board's surrogate is not shown to rank unseen systems better than chance.
    ``note`` says so. Of one that answered a part of the questions the interval is wider. A
    near-copy of a judged system stands beside that.

    Args:
        board: The board, or the path of its folder.
        answers: Columns ``query_id, language, system, answer``, or the path of their file.
        arena: The arena the board was built from (questions, passages, reference answers), or the
            path of its folder; by default it is read from where it was.
        n_jobs: Processes for feature extraction.
        models: How features' models are run; see ``features.extract``.
        feature_table: Features of the answers already at hand, used instead of extracting any:
            those that a training answer had a value of. Rows of other answers are not looked at.
        judgments: Verdicts on the new systems, beside systems on the board or each other; see
            ``judged_ratings``. ``language`` may be absent where ids of questions are unique.

    Raises:
        UsageError: If a system is already on the board, the board is a first one, without any
            verdict to have learned from, the arena is another one, the feature table lacks an
            answer or a feature, or there is none and a feature cannot be extracted.
        DataError: For malformed or duplicate answers, answers to unknown questions, and malformed
            judgments.
    """
    board = open_board(board)
    arena = open_arena(board.arena_folder() if arena is None else arena)
    if board.summary.is_first:
        raise UsageError(NO_VERDICTS)
    if fingerprint(arena) != board.summary.fingerprint:
        raise UsageError(
            f"the questions or reference answers of arena {arena.info.name!r} are not those of "
            f"arena {board.summary.arena!r} the board was built from; build the board again"
        )
    answers = open_answers(answers, arena.queries)
    if judgments is not None:
        judgments = checked_judgments(judgments, questions=arena.queries)
    known = sorted(set(answers["system"]) & set(board.ratings["system"]))
    if known:
        raise UsageError(f"already on the board: {', '.join(known)}; give them other names")
    if pairs := alike(answers["system"], board.ratings["system"]):
        shown = ", ".join(f"{first!a} and {name!a}" for first, name in pairs)
        raise UsageError(f"names that look alike: {shown}; give the new systems other names")
    if feature_table is None:
        declared = _declared(known_features(board.surrogate))
        _refuse_other_templates(declared, models)
        table = extract(arena, declared, answers=answers, n_jobs=n_jobs, models=models)
    else:
        table = _rows_of(answers, feature_table)
    known_answers = _judged_answers(board, arena.answers)
    judged = known_answers.groupby("language")["system"].unique()
    both = pd.concat([known_answers, answers], ignore_index=True)
    looks = Looks(
        look_at(both, judged.map(set).to_dict(), arena.queries),
        near_copies(answers, known_answers),
    )
    return place_systems(board, with_answers(table, answers), arena.queries, looks, judgments)


def _judged_answers(board: Board, answers: pd.DataFrame) -> pd.DataFrame:
    """Keep the answers of systems in the languages in which they are judged."""
    judged = board.ratings.loc[board.ratings["arena_rating"].notna(), ["language", "system"]]
    return answers.merge(judged, on=["language", "system"])


def _declared(names: Sequence[str]) -> tuple[Feature, ...]:
    try:
        return parse_features(",".join(names))
    except UsageError as error:
        raise UsageError(
            f"give the board's features of these answers in a table with `feature_table`: {error}"
        ) from error


def _refuse_other_templates(features: Sequence[Feature], models: ModelOptions | None) -> None:
    """Refuse templates for prompts that the board's own features were rated without."""
    if models is None:
        return
    for feature, own in zip(features, with_templates(features, models.templates), strict=True):
        if str(feature) != str(own):
            raise UsageError(
                f"the board has {feature}, rated by the packaged prompt, and a template would make "
                f"it {own}; leave the template out, or build the board with it"
            )


def _rows_of(answers: pd.DataFrame, table: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of a feature table that are of some answers."""
    rows = answers[KEYS].merge(table, on=KEYS, how="left", indicator=ROW)
    absent = rows.loc[rows.pop(ROW) == "left_only", KEYS]
    if not absent.empty:
        raise UsageError(
            f"the feature table has no row of {len(absent)} of {count_of(len(answers), 'answer')} "
            f"(first: {', '.join(absent.iloc[0])}); add them"
        )
    return rows


def place_systems(
    board: Board,
    table: pd.DataFrame,
    queries: pd.DataFrame,
    looks: Looks = NOTHING_SEEN,
    judgments: pd.DataFrame | None = None,
) -> RankedSystems:
    """Rank new systems by a feature table already at hand, and by verdicts where there are some.

    Args:
        board: The board.
        table: Feature table of the new systems' answers, with the board's features; with a column
            ``answer`` where the surrogate reads them.
        queries: The arena's questions, for coverage.
        looks: What is seen in their answers.
        judgments: Verdicts on the new systems; see ``judged_ratings``.
    """
    rated = board.surrogate.predict(table).set_index(["language", "system"])
    systems = sorted(table["system"].unique())
    languages = sorted({*board.ratings["language"], *table["language"]})
    judged = NOT_JUDGED
    said: list[str] = []
    if judgments is not None:
        judgments, said = _counted(board, set(systems), judgments, queries)
        judged = judged_ratings(board, table, judgments)
    judged = judged.set_index(["language", "system"])
    unlike = systems_outside(board.surrogate, table, board.features)
    asked = queries["language"].value_counts().to_dict()
    looks = replace(looks, variances=variances_of_coverage(board.surrogate, table, asked))
    found = []
    for language in languages:
        own = rated.loc[rated.index.get_level_values("language") == language, "answers"]
        answers = own.droplevel("language").astype(int).to_dict()
        standing = looks.standing(language, answers, asked[language])
        if not board.summary.macro.ranks_unseen and board.summary.settings.ratings == "posterior":
            standing = standing.without_proof(systems, UNPROVEN)
        found += [
            _row(
                board,
                rated,
                asked[language],
                (language, system),
                unlike.get((language, system)),
                judged,
                standing,
                looks.notes.get((language, system), ()),
            )
            for system in systems
        ]
    rows = sorted(found, key=_place_in_table)
    new = _table(rows, NEW_COLUMNS)
    placed = pd.concat([board.ratings, _table(rows, RATINGS.names)], ignore_index=True)
    return RankedSystems(
        board=_by_rank(placed.assign(behind=-placed["rating"]), ["language", "rank", "behind"]),
        overall=_overall(board.overall, new, board.ratings["language"].nunique()),
        features=table.drop(columns="answer", errors="ignore"),
        new=new,
        explanations=_table(rows, EXPLANATION_COLUMNS),
        notes=(*said, *_notes(board, languages)),
    )


def _counted(
    board: Board, systems: set[str], judgments: pd.DataFrame, queries: pd.DataFrame
) -> tuple[pd.DataFrame, list[str]]:
    """Leave out copies, and what cannot be used; say how many."""
    asked = pd.MultiIndex.from_frame(queries[QUESTION_KEY].astype(str))
    is_asked = pd.MultiIndex.from_frame(judgments[QUESTION_KEY].astype(str)).isin(asked)
    copies = copies_of_others(judgments)
    used = usable_judgments(board, systems, judgments)
    left = {COPIED: copies, NOT_ASKED: ~is_asked & ~copies, NOT_USED: ~used & is_asked & ~copies}
    counts = {note: int(rows.sum()) for note, rows in left.items()}
    notes = [note.format(count_of(each, "judgment")) for note, each in counts.items() if each]
    return judgments[is_asked & ~copies], notes


def _table(rows: Sequence[dict[str, object]], columns: Sequence[str]) -> pd.DataFrame:
    """Arrange rows that are sorted by language and rank."""
    return pd.DataFrame(
        {
            name: pd.Series([row.get(name) for row in rows], dtype=DTYPES.get(name, "float64"))
            for name in columns
        }
    )


def _place_in_table(row: dict[str, Any]) -> tuple[str, float, str]:
    rank = row["rank"]
    return row["language"], float("inf") if rank is None else rank, row["system"]


def _row(
    board: Board,
    rated: pd.DataFrame,
    questions: int,
    key: Key,
    outside: tuple[str, ...] | None,
    judged: pd.DataFrame,
    standing: Standing,
    seen: Sequence[Note],
) -> dict[str, object]:
    language, system = key
    known = rated.loc[key] if key in rated.index else pd.Series()
    answers = int(known.get("answers", 0))
    others = board.ratings.loc[board.ratings["language"] == language, "rating"]
    is_learned = language in _learned(board)
    interval, variance = _interval(board, language), standing.variances.get(system, 0.0)
    expected, expected_low, expected_high = _unjudged(interval, known, variance)
    verdicts = judged.loc[key] if key in judged.index else None
    if verdicts is None:
        rating, low, high = expected, expected_low, expected_high
    else:
        rating, low, high = _judged(interval, verdicts, known, variance)
    original = standing.originals.get(system)
    if original is not None:
        rating, low, high = _bounds_of(board, language, original)
    why = NO_SURROGATE if np.isnan(rating) and not is_learned else absence(rating, answers)
    why_not = standing.unranked.get(system)
    is_barred = why_not not in (None, UNPROVEN if verdicts is not None else None)
    if is_barred:
        rating = low = high = float("nan")
    notes = [
        standing.note(system, why, is_barred=is_barred),
        BEYOND if np.isinf(high) else "",
        _unlike(outside),
    ]
    return {
        "language": language,
        "system": system,
        "rank": _place(others, rating),
        "rank_low": _place(others, high),
        "rank_high": _place(others, low),
        "rating": rating,
        "low": low,
        "high": high,
        "verdict_share": 0.0 if verdicts is None else float(verdicts["verdict_share"]),
        "surrogate_rating": expected,
        "surrogate_low": expected_low,
        "surrogate_high": expected_high,
        "judgments": 0 if verdicts is None else int(verdicts["judgments"]),
        "coverage": answers / questions,
        "answers": answers,
        "split": NEW,
        "note": "; ".join(note for note in notes if note),
        "outside_training": None if outside is None else list(outside),
        "seen": [asdict(note) for note in seen],
    }


def _judged(
    interval: RatingInterval, verdicts: pd.Series, known: pd.Series, variance: float
) -> tuple[float, float, float]:
    """Rate a system with verdicts, with its 90% interval.

    Until much of its rating rests on verdicts of its own, what limits those without any does too.
    """
    share = float(verdicts["verdict_share"])
    rating = round(float(verdicts["rating"]), DECIMALS)
    width = NORMAL_90 * float(verdicts["standard_error"])
    bounds = widened(rating, rating - width, rating + width, variance * (1 - share) ** 2)
    low, high = (round(bound, DECIMALS) for bound in bounds)
    error = float(known.get("standard_error", np.nan))
    is_beyond = share < SUBSTANTIAL_SHARE and interval.reaches_beyond(rating, error)
    return rating, low, float("inf") if is_beyond else high


def _unjudged(
    interval: RatingInterval, told: pd.Series, variance: float
) -> tuple[float, float, float]:
    """Rate a system without verdicts in a language, with the bounds of its 90% interval.

    Args:
        interval: The language's.
        told: Its ``rating`` and ``standard_error``, if there are any.
        variance: Of the rating, for want of answers.

    Returns:
        Rating and bounds; the upper one is infinite where it may be better than every judged one.
    """
    rating = round(float(told.get("rating", np.nan)), DECIMALS)
    error = float(told.get("standard_error", np.nan))
    low, high = interval.around(rating, error)
    low, high = (round(bound, DECIMALS) for bound in widened(rating, low, high, variance))
    return rating, low, float("inf") if interval.reaches_beyond(rating, error) else high


def _interval(board: Board, language: str) -> RatingInterval:
    summary = board.summary.languages.get(language)
    return summary.interval if summary else NO_RATINGS


def _bounds_of(board: Board, language: str, system: str) -> tuple[float, float, float]:
    """The rating of a system on the board with its bounds."""
    own = board.ratings[board.ratings["language"] == language].set_index("system")
    rating, low, high = own.loc[system, ["rating", "low", "high"]].astype(float)
    return float(rating), float(low), float(high)


def _place(ratings: pd.Series, rating: float) -> int | None:
    return None if np.isnan(rating) else 1 + int((ratings > rating).sum())


def _unlike(outside: Sequence[str] | None) -> str:
    if outside is None:
        return ""
    return f"{OUTSIDE}: {', '.join(outside) or 'as a combination of features'}"


def _learned(board: Board) -> set[str]:
    """Languages that the surrogate has learned from."""
    return set(board.surrogate.systems_) - set(board.surrogate.failures_)


def _notes(board: Board, languages: Sequence[str]) -> Iterator[str]:
    yield from board.summary.macro.cautions
    trained = _learned(board)
    for language in languages:
        interval = _interval(board, language)
        if interval.reason and language in trained:
            yield f"no interval of ratings in {language}: {interval.reason}"
        if interval.pooled:
            yield f"intervals in {language} are rough: {POOLED}"


def _overall(overall: pd.DataFrame, new: pd.DataFrame, languages: int) -> pd.DataFrame:
    rows = [_overall_row(overall, system, part, languages) for system, part in _systems(new)]
    placed = pd.concat([overall, pd.DataFrame(rows).astype({"rank": "Int64"})], ignore_index=True)
    return _by_rank(placed, ["rank", "mean_rank"])


def _by_rank(table: pd.DataFrame, order: Sequence[str]) -> pd.DataFrame:
    """Sort as a reader expects: a new system stands above those it takes the rank of."""
    in_order = table.sort_values(list(order), kind="stable", ignore_index=True)
    return in_order.drop(columns="behind", errors="ignore")


def _systems(new: pd.DataFrame) -> Sequence[tuple[str, pd.DataFrame]]:
    return [(str(system), part) for system, part in new.groupby("system")]


def _overall_row(
    overall: pd.DataFrame, system: str, part: pd.DataFrame, languages: int
) -> dict[str, object]:
    ranked = part[part["rank"].notna()]
    complete = len(ranked) == languages
    mean_rank = round(float(ranked["rank"].mean()), DECIMALS) if complete else float("nan")
    better = int((overall["mean_rank"] < mean_rank).sum())
    return {
        "system": system,
        "rank": 1 + better if complete else None,
        "mean_rank": mean_rank,
        "mean_rating": float(ranked["rating"].mean()) if complete else float("nan"),
        "languages": len(ranked),
        "coverage": float(part["coverage"].mean()),
    }
