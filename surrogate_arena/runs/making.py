"""Making one board: ingredients, judging, and publishing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pandas as pd

from arena.data.arena import Arena
from arena.data.errors import UsageError, checked_choice
from arena.data.folder import (
    FAILED_JUDGMENTS,
    FURTHER_FOLDER,
    VOTES_FILE,
    read_arena,
    read_unlisted,
    table_files,
)
from arena.data.rows import are_in
from arena.data.schema import INFO_FILE
from arena.data.tables import write_rows
from arena.data.types import Progress
from arena.data.writing import replaced_folder
from arena.judging.answer_pairs import PAIR_COLUMNS
from arena.judging.judging_settings import JudgingSettings
from arena.llm.llm_settings import fields_by_use
from arena.llm.replies import FINAL, UNPARSABLE
from features.engine.cache import code_digest
from features.measures.choosing import parse_features
from surrogate.board.board import Board
from surrogate.board.build import build_board
from surrogate.board.rank_reasons import VANISHED
from surrogate.board.remarks import conclusion, headline
from surrogate.board.tables import FEATURE_CACHE, MANIFEST_FILE, read_feature_table
from surrogate.board.view import board_judges
from surrogate_arena.cli.judging_records import METAEVALUATION_FILE, read_judging_records
from surrogate_arena.costs.costs import write_costs
from surrogate_arena.diagnosis.judging_prior import judging_prior
from surrogate_arena.pages.site import write_site
from surrogate_arena.pages.site_folder import check_replaceable
from surrogate_arena.runs.configured import STORE_FILE, ConfiguredBoard
from surrogate_arena.runs.in_use import against_in_use
from surrogate_arena.runs.keeping import keep_board
from surrogate_arena.runs.past_boards import HISTORY, WHOLE, past_board, read_history
from surrogate_arena.runs.records import (
    BoardRecord,
    Ingredients,
    folder_digests,
    library_versions,
    shown_values,
)

BOARD = "board"
JUDGING = "judging"
ARENA_FILES = (
    INFO_FILE,
    VOTES_FILE,
    FAILED_JUDGMENTS,
    METAEVALUATION_FILE,
    FURTHER_FOLDER,
    *table_files(),
)
"""Files and folders of an arena that a board and its pages are made from."""
LASTING = {*FINAL, UNPARSABLE}
"""Failures that would be the same if the pair were asked again."""


def ingredients_of(board: ConfiguredBoard) -> Ingredients:
    """Return what a board is made from."""
    ingredients = folder_digests(board.arena, ARENA_FILES, "arena/")
    ingredients |= shown_values(board.settings.model_dump(mode="json"))
    ingredients |= shown_values(board.pages.model_dump(mode="json"), "site ")
    ingredients |= {"publish": str(board.options.publish), "site parent": board.parent}
    ingredients["in use"] = board.options.in_use
    table = board.feature_table
    if table is not None:
        ingredients |= folder_digests(table.parent, (table.name,), "feature table/")
    else:
        ingredients["feature code"] = code_digest()
        for feature in parse_features(",".join(board.options.features)):
            if feature.model and Path(feature.model).is_dir():
                folder = Path(feature.model)
                ingredients |= folder_digests(folder.parent, (folder.name,), "model ")
    judging = board.judging
    if judging is not None:
        fields = fields_by_use(JudgingSettings, replies="value")
        ingredients |= shown_values(judging.model_dump(mode="json", include=set(fields)), "judge ")
        if judging.template:
            template = Path(judging.template)
            ingredients |= folder_digests(template.parent, (template.name,), "template ")
        if judging.prior is not None:
            ingredients |= folder_digests(Path(judging.prior), (MANIFEST_FILE,), "prior ")
    return ingredients | library_versions()


def make_board(
    board: ConfiguredBoard,
    out: Path,
    web: Path,
    n_jobs: int,
    progress: Progress | None,
) -> BoardRecord:
    """Make a board and publish it; the caller writes the record."""
    # Before anything is made, so that a change meanwhile is noticed by the next run.
    ingredients = ingredients_of(board)
    folder = out / board.name
    if board.options.publish:
        check_replaceable(web / board.name)
    arena = read_arena(board.arena)
    unfinished = ""
    if board.judging is not None:
        arena, unfinished = _judged(board, board.judging, arena, out, n_jobs, progress)
    built = _build(board, arena, folder, out / FEATURE_CACHE, n_jobs, progress)
    keep_board(built, folder / HISTORY, ingredients, arena)
    record = BoardRecord(ingredients=ingredients, unfinished=unfinished)
    in_use = against_in_use(built, arena, board.options.in_use)
    return _published(board, built, arena, folder, web, record, in_use)


def restored_board(
    board: ConfiguredBoard, date: str, out: Path, web: Path, record: BoardRecord
) -> BoardRecord:
    """Bring back a board that was kept, and its pages, until something changes.

    Raises:
        UsageError: If the board was not kept whole, or has a system that is not listed now.
    """
    folder = out / board.name
    kept = [past.entry.name for past in read_history(folder / HISTORY)[-WHOLE:]]
    checked_choice(date, kept, f"date of {board.name}")
    if board.options.publish:
        check_replaceable(web / board.name)
    past = past_board(folder / HISTORY / date)
    unlisted = read_unlisted(board.arena)
    for system in past.systems:
        if system in unlisted:
            raise UsageError(
                f"the board of {date} has {system!a}, which is {unlisted[system]}; restore another "
                "one, or list the system by withdraw --undo"
            )
    restored = past.save(folder / BOARD)
    cause = f"the board of {date} was restored"
    arena = read_arena(board.arena)
    keep_board(restored, folder / HISTORY, record.ingredients, arena, cause)
    return _published(board, restored, None, folder, web, record)


def _published(
    board: ConfiguredBoard,
    built: Board,
    arena: Arena | None,
    folder: Path,
    web: Path,
    record: BoardRecord,
    in_use: str = "",
) -> BoardRecord:
    """Write a board's pages, if any; return its record with remarks."""
    if board.options.publish:
        history = [past.entry for past in read_history(folder / HISTORY)]
        settings = board.pages
        if settings.date is None:
            settings = settings.model_copy(update={"date": history[-1].date})
        if in_use:
            settings = settings.model_copy(update={"headline": in_use})
        pages = web / board.name
        write_site(built, pages, arena, settings, parent=board.parent, history=history)
    is_unreliable = built.summary.macro.is_unreliable
    # The fault of an unreliable judge stands below, among the cautions.
    sentence = headline(built) if is_unreliable else conclusion(built)
    fields = {
        "cautions": tuple(_cautions(built)),
        "conclusion": f"{in_use} {sentence}".strip(),
        "is_published": board.options.publish,
    }
    return record.model_copy(update=fields)


def _judged(
    board: ConfiguredBoard,
    settings: JudgingSettings,
    arena: Arena,
    out: Path,
    n_jobs: int,
    progress: Progress | None,
) -> tuple[Arena, str]:
    from arena.judging import judge, questions_to_judge
    from arena.judging.judging_result import lasting_failures, require_verdicts

    prior = None
    if settings.is_adaptive:
        questions = questions_to_judge(arena, settings)
        prior = judging_prior(arena, questions, settings.prior, seed=settings.seed, n_jobs=n_jobs)
    store = out / STORE_FILE if settings.store is None else Path(settings.store)
    judging = judge(
        arena,
        settings,
        store,
        prior=prior,
        failed=lasting_failures(board.arena),
        progress=progress,
    )
    if judging.error is not None:
        # The board rests on both judges. What was paid for is in the store, for the next run.
        raise judging.error
    require_verdicts(judging.usage)
    tables = [judging.judgments]
    if judging.derived is not None:
        tables.append(judging.derived.judgments)
    verdicts = pd.concat([table.astype(object) for table in tables], ignore_index=True)
    key = [*PAIR_COLUMNS, "judge"]
    # Derived verdicts include those that the arena has from earlier runs.
    verdicts = verdicts[~are_in(verdicts, arena.judgments, key)]
    verdicts = verdicts.sort_values(key, kind="stable", ignore_index=True)
    with replaced_folder(out / board.name / JUDGING) as target:
        write_rows(verdicts, target / "judgments.parquet")
        write_rows(judging.failures, target / FAILED_JUDGMENTS)
    counts = []
    for reason, count in sorted(judging.usage.failures.items()):
        if reason not in LASTING:
            counts.append(f"{count} {reason}")
    unfinished = f"pairs without a verdict: {', '.join(counts)}" if counts else ""
    judgments = pd.concat([arena.judgments, verdicts], ignore_index=True)
    return replace(arena, judgments=judgments), unfinished


def _build(
    board: ConfiguredBoard,
    arena: Arena,
    folder: Path,
    cache: Path,
    n_jobs: int,
    progress: Progress | None,
) -> Board:
    judging_records = None
    judges = board_judges(arena, board.settings)
    if judges:
        judging_records = read_judging_records(board.arena, judges[0])
        if board.judging is not None:
            failures = read_judging_records(folder / JUDGING, judges[0]).failures
            judging_records = judging_records.model_copy(update={"failures": failures})
    table = board.feature_table
    built = build_board(
        arena,
        board.settings,
        feature_table=None if table is None else read_feature_table(table, arena.answers),
        judging_records=judging_records,
        n_jobs=n_jobs,
        progress=progress,
        cache=cache,
    )
    saved = built.save(folder / BOARD, board.arena)
    write_costs(saved, arena, folder / BOARD)
    # Read again, so that all that follows shows what the files say.
    return Board.load(folder / BOARD)


def _cautions(board: Board) -> Sequence[str]:
    cautions = []
    if board.summary.macro.is_unreliable:
        cautions.append(board.summary.macro.judge_fault)
    lost = board.ratings[board.ratings["note"] == VANISHED]
    for system, rows in lost.groupby("system"):
        cautions.append(f"{system} in {', '.join(rows['language'])}: {VANISHED}")
    return cautions
