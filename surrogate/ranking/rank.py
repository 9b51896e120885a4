"""Ranking new systems: reading and measuring their answers, then placing them on a board."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pandas as pd

from arena.data.arena import Arena
from arena.data.errors import UsageError, argument
from arena.data.folder import open_arena, read_own_answers
from arena.data.systems import refuse_names_alike
from arena.data.wording import count_of
from arena.rating.judgments import checked_judgments
from features.declare.feature import Feature, Models
from features.engine.extraction import FEATURE_KEY, extract
from features.measures.registry import chosen_features
from surrogate.board.board import Board, open_board
from surrogate.board.slices import in_slices, sliced
from surrogate.board.summary import fingerprint
from surrogate.board.view import judgments_view
from surrogate.checks.answer_checks import AnswerChecks, compare_measured
from surrogate.checks.faults import measure_faults
from surrogate.checks.inspection import inspect_answers
from surrogate.checks.notes import Findings
from surrogate.learning.language_data import with_answers
from surrogate.learning.surrogate import known_features
from surrogate.ranking.placing import place_systems
from surrogate.ranking.ranked_systems import RankedSystems


def rank_systems(
    board: Board | Path | str,
    answers: pd.DataFrame | Path | str,
    arena: Arena | Path | str | None = None,
    n_jobs: int = 1,
    models: Models | None = None,
    *,
    feature_table: pd.DataFrame | None = None,
    judgments: pd.DataFrame | None = None,
) -> RankedSystems:
    """Rank new systems by their answers, and by verdicts where there are some.

    A new system's rank is the place it would take: one more than the number of the board's systems
    with a higher rating. The board's own ranks and ratings do not change. With verdicts or without,
    a system has no rank where its answers are too few (``needed_answers``), one text whatever was
    asked, or fit other questions as well as their own (``facts_about``); nor where less than half
    of its rating rests on verdicts and the board's surrogate is not shown to rank unseen systems
    better than chance. ``note`` says so. A system that answered some of the questions has a wider
    interval. A near-copy gets its original's rating.

    Args:
        board: The board, or the path of its folder.
        answers: Columns ``query_id, language, system, answer``, or the path of their file in this
            form.
        arena: The arena the board was built from (questions, passages, reference answers), or the
            path of its folder; by default the one that the board knows.
        n_jobs: Processes for feature extraction.
        models: How features' models are run; see ``features.extract``.
        feature_table: Features of the answers already at hand, used instead of extracting any:
            those that a training answer had a value of. Rows of other answers are not looked at.
        judgments: Verdicts on new systems against systems of the board or each other; see
            ``judged_ratings``. ``language`` may be absent where ids of questions are unique.

    Raises:
        UsageError: If a system is already on the board, the board is a first one, without any
            verdict to have learned from, the arena is another one, the feature table lacks an
            answer or a feature, or there is none and a feature cannot be extracted.
        DataError: For malformed or duplicate answers, answers to unknown questions, and malformed
            judgments.
    """
    board = open_board(board)
    whole_arena = open_arena(board.own_arena() if arena is None else arena, is_judged=False)
    if board.summary.is_first:
        raise UsageError(
            "this is a first board: nobody has judged, so that no surrogate can place new systems. "
            "Add their answers to the arena and build the board again, or judge some pairs first"
        )
    by = board.summary.settings.by
    parted_arena = sliced(whole_arena, by)
    if fingerprint(parted_arena) != board.summary.fingerprint:
        raise UsageError(
            f"the questions or reference answers of arena {whole_arena.info.name!r} are not those "
            f"of arena {board.summary.arena!r} the board was built from; build the board again"
        )
    queries = whole_arena.queries
    answers = read_own_answers(answers, queries)
    if judgments is not None:
        judgments = checked_judgments(judgments, questions=queries)
        settings = board.summary.settings
        judgments = judgments_view(judgments, queries, settings, settings.temperatures)
    _check_names(answers["system"], board)
    if feature_table is None:
        declared = _declared(known_features(board.surrogate), board.own_features)
        _refuse_other_templates(declared, models)
        table = extract(whole_arena, declared, answers=answers, n_jobs=n_jobs, models=models)
    else:
        table = _rows_of(answers, feature_table)
    new_answers = answers
    table = in_slices(table, queries, by)
    answers = in_slices(answers, queries, by)
    findings = _inspect_new(board, parted_arena, answers)
    X = with_answers(table, answers)
    placed = place_systems(board, X, parted_arena.queries, findings, judgments)
    return replace(placed, checks=_checks_of(board, whole_arena, new_answers))


def _checks_of(board: Board, arena: Arena, answers: pd.DataFrame) -> dict[str, AnswerChecks]:
    """Compare the faults of each new system's answers with those of the board's best."""
    best_answers = arena.answers[arena.answers["system"] == board.systems[0]]
    compared = pd.concat([answers, best_answers], ignore_index=True)
    # Whether the best cites at all tells whether citations can be dead. Other amounts are no fault.
    measured = measure_faults(arena, compared, amounts=["cited"])
    by_system = dict(tuple(measured.groupby("system")))
    baseline = by_system.pop(board.systems[0], measured.iloc[:0])
    return {str(system): compare_measured(rows, baseline) for system, rows in by_system.items()}


def _check_names(systems: pd.Series, board: Board) -> None:
    taken = sorted(set(systems) & set(board.ratings["system"]))
    if taken:
        raise UsageError(f"already on the board: {', '.join(taken)}; give them other names")
    refuse_names_alike(systems, board.ratings["system"])


def _inspect_new(board: Board, arena: Arena, answers: pd.DataFrame) -> Findings:
    has_verdicts = board.ratings["arena_rating"].notna()
    judged = board.ratings.loc[has_verdicts, ["language", "system"]]
    judged_answers = arena.answers.merge(judged, on=["language", "system"])
    systems = {str(name): set(rows["system"]) for name, rows in judged.groupby("language")}
    compared = pd.concat([judged_answers, answers], ignore_index=True)
    return inspect_answers(compared, systems, arena.queries, board.surrogate, with_judged=False)


def _declared(names: Sequence[str], own_features: Sequence[Feature]) -> tuple[Feature, ...]:
    by_name = {str(feature): feature for feature in own_features}
    try:
        # The names are the board's, and a board may come from anybody: it imports nothing.
        return chosen_features([by_name.get(name, name) for name in names], with_plug_ins=False)
    except UsageError as error:
        raise UsageError(
            "the board was built with features of your own or of another package; name them "
            f"({argument('features')}; in Python Board.load(FOLDER, features=[...])), or give "
            f"these answers' features in a table, {argument('feature_table')}: {error}"
        ) from error


def _refuse_other_templates(features: Sequence[Feature], models: Models | None) -> None:
    """Refuse templates for prompts that the board's own features were rated without."""
    if models is None:
        return
    templated = models.configured(features)
    for feature, changed in zip(features, templated, strict=True):
        if str(feature) != str(changed):
            raise UsageError(
                f"the board has {feature}, rated by the packaged prompt, and a template would make "
                f"it {changed}; leave the template out, or build the board with it"
            )


def _rows_of(answers: pd.DataFrame, table: pd.DataFrame) -> pd.DataFrame:
    rows = answers[FEATURE_KEY].merge(table, on=FEATURE_KEY, how="left", indicator="_row")
    absent = rows.loc[rows.pop("_row") == "left_only", FEATURE_KEY]
    if not absent.empty:
        raise UsageError(
            f"the feature table has no row of {len(absent)} of {count_of(len(answers), 'answer')} "
            f"(first: {', '.join(absent.iloc[0])}); add them"
        )
    return rows
