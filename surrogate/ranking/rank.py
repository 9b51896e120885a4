"""Placing new systems on an existing board, whose rows stay as they are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from arena.adapters.new_answers import open_answers
from arena.data.arena import Arena
from arena.data.errors import UsageError, argument
from arena.data.folder import open_arena
from arena.data.notebook import notebook_html
from arena.data.schema import QUESTION_KEY
from arena.data.systems import refuse_names_alike
from arena.data.wording import count_of
from features.declare.feature import Feature
from features.engine.extraction import extract
from features.measures.registry import asked_features, with_templates
from features.models.scorer import ModelOptions
from surrogate.board.board import Board, open_board
from surrogate.board.rating_rows import SUBSTANTIAL_SHARE, absence, rated_rows
from surrogate.board.summary import POOLED, UNPROVEN, WIDE, fingerprint
from surrogate.board.tables import DECIMALS, RATINGS
from surrogate.integrity.notes import Seen, look_at, near_copies, system_status
from surrogate.learning.languages import in_slices, sliced, with_answers
from surrogate.learning.surrogate import KEYS, known_features
from surrogate.ranking.judged import JUDGED_COLUMNS, counted_judgments, interval_of, judged_ratings

NOTHING_SEEN = Seen()
NO_VERDICTS = (
    "this is a first board: nobody has judged, so that no surrogate can place new systems. Add "
    "their answers to the arena and build the board again, or judge some pairs first"
)
NO_SURROGATE = "the board has no surrogate here"
ROW = "_row"
NAMED = 2
"""Features either way, and questions, that reasons name; of questions with long names one."""
LONG_NAME = 12
NEW_COLUMNS = [
    *("language", "system", "rank", "rank_low", "rank_high", "rating", "low", "high"),
    *("surrogate_rating", "judgments", "verdict_share", "coverage", "answers", "note"),
]


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
            ``rating, low, high, surrogate_rating, judgments, verdict_share, coverage, answers,
            note``: where there are judgments, the rating is by these and the surrogate together.
        explanations: Row by row ``language, system, seen`` (a list of entries; see ``Note``),
            ``expected`` (its rating by answers and verdicts, ranked or not), ``original`` (the
            system that it is a near-copy of) and what moves the prediction (see
            ``Surrogate.explain``; NaN where that is not told).
        judgments: The verdicts that count.
        notes: What limits the board for new systems, and why some of this is not known, or not
            well.
    """

    board: pd.DataFrame
    overall: pd.DataFrame
    features: pd.DataFrame
    new: pd.DataFrame
    explanations: pd.DataFrame
    judgments: pd.DataFrame
    notes: tuple[str, ...]

    @property
    def reasons(self) -> dict[str, str]:
        """Why each new system stands where it does, in words, by language and rank."""
        both = self.new.merge(self.explanations, on=["language", "system"])
        return {
            str(system): "; ".join(_reasons(rows, both["language"].nunique() > 1))
            for system, rows in both.groupby("system", sort=False)
        }

    def _repr_html_(self) -> str:
        """Show the new systems in a notebook, by language and rank."""
        reasons = [f"{system}: {why}" for system, why in self.reasons.items() if why]
        said = " ".join(f"{note[:1].upper()}{note[1:]}." for note in (*self.notes, *reasons))
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
    whatever was asked, or fit other questions as well as their own (``look_at``); nor
    where less than half of its rating rests on verdicts and the board's surrogate is not shown to
    rank unseen systems better than chance. ``note`` says so. Of one that answered a part of the
    questions the interval is wider. A near-copy of a judged system stands beside that.

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
    arena = open_arena(board.arena_folder() if arena is None else arena, is_judged=False)
    if board.summary.is_first:
        raise UsageError(NO_VERDICTS)
    by = board.summary.settings.by
    whole, arena = arena, sliced(arena, by)
    if fingerprint(arena) != board.summary.fingerprint:
        raise UsageError(
            f"the questions or reference answers of arena {arena.info.name!r} are not those of "
            f"arena {board.summary.arena!r} the board was built from; build the board again"
        )
    answers = open_answers(answers, whole.queries)
    if judgments is not None:
        from arena.data.judgments import checked_judgments

        judgments = checked_judgments(judgments, questions=whole.queries)
        judgments = board.summary.settings.judged(judgments, whole.queries)
    known = sorted(set(answers["system"]) & set(board.ratings["system"]))
    if known:
        raise UsageError(f"already on the board: {', '.join(known)}; give them other names")
    refuse_names_alike(answers["system"], board.ratings["system"])
    if feature_table is None:
        declared = _declared(known_features(board.surrogate), board.own_features)
        _refuse_other_templates(declared, models)
        table = extract(whole, declared, answers=answers, n_jobs=n_jobs, models=models)
    else:
        table = _rows_of(answers, feature_table)
    table, answers = (in_slices(item, whole.queries, by) for item in (table, answers))
    judged = board.ratings.loc[board.ratings["arena_rating"].notna(), ["language", "system"]]
    known_answers = arena.answers.merge(judged, on=["language", "system"])
    judged = judged.groupby("language")["system"].unique()
    both = pd.concat([known_answers, answers], ignore_index=True)
    notes = look_at(both, judged.map(set).to_dict(), arena.queries)
    seen = Seen(notes, near_copies(answers, known_answers))
    return place_systems(board, with_answers(table, answers), arena.queries, seen, judgments)


def _declared(names: Sequence[str], own: Sequence[Feature]) -> tuple[Feature, ...]:
    given = {str(feature): feature for feature in own}
    try:
        return asked_features([given.get(name, name) for name in names])
    except UsageError as error:
        raise UsageError(
            "give the board its features of your own when it is loaded, Board.load(FOLDER, "
            "features=[...]), or these answers' features in a table, "
            f"{argument('feature_table')}: {error}"
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
    seen: Seen = NOTHING_SEEN,
    judgments: pd.DataFrame | None = None,
) -> RankedSystems:
    """Rank new systems by a feature table already at hand, and by verdicts where there are some.

    Args:
        board: The board.
        table: Feature table of the new systems' answers, with the board's features; with a column
            ``answer`` where the surrogate reads them.
        queries: The arena's questions, for coverage.
        seen: What is seen in their answers.
        judgments: Verdicts on the new systems; see ``judged_ratings``.
    """
    systems = sorted(table["system"].unique())
    languages = sorted({*board.ratings["language"], *table["language"]})
    questions = queries["language"].value_counts().to_dict()
    judged, said = pd.DataFrame(columns=JUDGED_COLUMNS), list[str]()
    if judgments is None:
        judgments = pd.DataFrame(columns=[*QUESTION_KEY, "system_a", "system_b", "winner"])
    else:
        judgments, said = counted_judgments(board, set(systems), judgments, queries)
        judged = judged_ratings(board, table, judgments)
    keys = pd.MultiIndex.from_product([languages, systems], names=["language", "system"])
    known = _known(board, table, judged, keys, questions)
    looks = system_status(seen, board.surrogate, table, questions, {}).reindex(keys)
    texts = ["unranked", "original", "remark"]
    looks[texts] = looks[texts].astype(object).fillna("")
    summary = board.summary
    unproven = [code for code in languages if not summary.ranks_unseen_in(code)]
    is_barred = keys.get_level_values("language").isin(unproven)
    is_barred &= (looks[["unranked", "original"]] == "").all(axis=1).to_numpy()
    is_barred &= ~(known["verdict_share"] >= SUBSTANTIAL_SHARE).to_numpy()
    looks.loc[is_barred, "unranked"] = UNPROVEN
    explained = board.surrogate.explain(table).set_index(["language", "system"])
    expected = known["posterior"].fillna(known["expected"])
    notes = [[asdict(note) for note in seen.notes.get(key, ())] for key in keys]
    told = {"seen": notes, "expected": expected, "original": looks["original"]}
    explanations = pd.DataFrame(told, keys).join(explained)
    parts = []
    for language in languages:
        there = board.ratings[board.ratings["language"] == language].set_index("system")
        interval = interval_of(board, language)
        rows = rated_rows(known.loc[language], interval, looks.loc[language], there)
        rows = rows.round(DECIMALS)
        for name, column in (("rank", "rating"), ("rank_low", "high"), ("rank_high", "low")):
            places = [(there["rating"] > value).sum() + 1 for value in rows[column]]
            rows[name] = pd.Series(places, rows.index, "Int64").mask(rows[column].isna())
        rows["judgments"] = known.loc[language, "judgments"]
        parts.append(rows.assign(language=language).rename_axis("system").reset_index())
    new = pd.concat(parts, ignore_index=True)
    new = new.fillna({"verdict_share": 0.0}).sort_values(["language", "rank", "system"])
    order = pd.MultiIndex.from_frame(new[["language", "system"]])
    placed = RATINGS.typed(new.reindex(columns=list(RATINGS.names)))
    placed = pd.concat([board.ratings, placed], ignore_index=True)
    placed = placed.assign(behind=-placed["rating"])  # a new system stands above those it beats
    placed = placed.sort_values(["language", "rank", "behind"], kind="stable", ignore_index=True)
    return RankedSystems(
        board=placed.drop(columns="behind"),
        overall=_overall(board.overall, new, board.ratings["language"].nunique()),
        features=table.drop(columns="answer", errors="ignore"),
        new=new[NEW_COLUMNS].reset_index(drop=True),
        explanations=explanations.loc[order].reset_index(),
        judgments=judgments,
        notes=(*said, *_notes(board, languages)),
    )


def _known(
    board: Board,
    table: pd.DataFrame,
    judged: pd.DataFrame,
    keys: pd.MultiIndex,
    questions: dict[str, int],
) -> pd.DataFrame:
    """Arrange what surrogate and verdicts say of new systems as ``rated_rows`` has it."""
    predicted = board.surrogate.predict(table).set_index(["language", "system"]).reindex(keys)
    verdicts = judged.set_index(["language", "system"]).reindex(keys)
    asked = keys.get_level_values("language").map(questions).to_numpy(float)
    answers = predicted["answers"].fillna(0).astype("int64")
    numbers = {
        "expected": predicted["rating"],
        "expected_error": predicted.get("standard_error", np.nan),
        "posterior": verdicts["rating"],
        "error": verdicts["standard_error"],
        "verdict_share": verdicts["verdict_share"],
        "coverage": answers / asked,
    }
    known = pd.DataFrame(numbers, index=keys).astype(float)
    learned = _learned(board)
    rating = known["posterior"].fillna(known["expected"])
    why = [
        NO_SURROGATE if np.isnan(value) and language not in learned else absence(value, count)
        for (language, _), value, count in zip(keys, rating, answers, strict=True)
    ]
    judgments = verdicts["judgments"].fillna(0).astype("int64")
    return known.assign(answers=answers, split="new", why=why, judgments=judgments)


def _learned(board: Board) -> set[str]:
    """Languages that the surrogate has learned from."""
    return set(board.surrogate.systems_) - set(board.surrogate.failures_)


def _notes(board: Board, languages: Sequence[str]) -> Iterator[str]:
    yield from board.summary.macro.cautions
    trained = _learned(board)
    for language in languages:
        interval = interval_of(board, language)
        if interval.reason and language in trained:
            yield f"no interval of ratings in {language}: {interval.reason}"
        if interval.pooled:
            yield f"intervals in {language} are rough: {POOLED}"
        if interval.is_wide:
            yield f"intervals in {language} are wide: {WIDE}"


def _overall(overall: pd.DataFrame, new: pd.DataFrame, languages: int) -> pd.DataFrame:
    """Put new systems among the overall rows; the board's own stay as they are.

    The interval of an overall rank is as if a system's errors were the same in every language.
    """
    grouped = new.assign(rating=new["rating"].where(new["rank"].notna())).groupby("system")
    ranks = ["rank", "rank_low", "rank_high"]
    means = grouped[[*ranks, "rating", "coverage"]].mean().astype(float).round(DECIMALS)
    ranked = grouped["rank"].count()
    means.loc[ranked < languages, [*ranks, "rating"]] = np.nan
    means.loc[grouped["rank_low"].count() < languages, ["rank_low", "rank_high"]] = np.nan
    rows = means[["coverage"]].assign(
        languages=ranked, mean_rank=means["rank"], mean_rating=means["rating"]
    )
    for name in ranks:
        places = [1 + (overall["mean_rank"] < own).sum() for own in means[name]]
        rows[name] = pd.Series(places, rows.index, "Int64").mask(means[name].isna())
    placed = pd.concat([overall, rows.reset_index()], ignore_index=True)
    return placed.sort_values(["rank", "mean_rank"], kind="stable", ignore_index=True)


def _reasons(rows: pd.DataFrame, has_languages: bool) -> Iterator[str]:
    """Say what a system's place rests on: copies, verdicts, features, and answers like its own."""
    if originals := [name for name in rows["original"].unique() if name]:
        yield f"its answers are nearly those of {', '.join(originals)}, beside which it stands"
    if rows["judgments"].sum():
        share = rows.loc[rows["judgments"] > 0, "verdict_share"].mean()
        yield f"{share:.0%} by {count_of(int(rows['judgments'].sum()), 'verdict')} on it"
    told = rows[(rows["original"] == "") & rows["moved_by"].notna()]
    moved: dict[str, float] = {}
    for feature, added in (item for own in told["moved_by"] for item in own):
        moved[feature] = moved.get(feature, 0.0) + added / len(told)
    parts = []
    for side, way in (("up", 1), ("down", -1)):
        named = sorted((way * added, name) for name, added in moved.items() if way * added > 0)
        if listed := [f"{name} ({way * size:+.2f})" for size, name in named[: -1 - NAMED : -1]]:
            parts.append(f"{side} by {' and '.join(listed)}")
    if parts:
        yield f"moved {', '.join(parts)}"
    parts = []
    for column, kind in (("like_winners", "winning"), ("like_losers", "losing")):
        keys = [(own.language, item) for own in told.itertuples() for item in getattr(own, column)]
        names = [f"{language} {item}" if has_languages else item for language, item in keys]
        if names:
            some = names[: 1 if len(names[0]) > LONG_NAME else NAMED]
            shown = ", ".join([*some, *(["…"] if len(names) > len(some) else [])])
            parts.append(f"{kind} ones on {count_of(len(names), 'question')} ({shown})")
    if parts:
        yield f"its answers are most like {', '.join(parts)}"
