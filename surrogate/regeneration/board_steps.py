"""The steps from an arena to its board: features, the board, its validation."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from arena import read_arena
from arena.judging.failure_file import FAILURES_FILE
from arena.metaevaluation.metaevaluation_file import FILE_NAME as METAEVALUATION_FILE
from arena.rows import write_rows
from features import Feature, extract
from features.engine.answer_cache import code_digest
from features.models.options import ModelOptions
from surrogate.board import build_board
from surrogate.board_folder import read_feature_table, write_board
from surrogate.judge import Recipe
from surrogate.regeneration.config_file import ConfiguredBoard
from surrogate.regeneration.config_records import ValidationOptions
from surrogate.regeneration.digests import (
    ARENA_CONTENT,
    ARENA_JUDGMENTS,
    ARENA_REMARKS,
    Digests,
    digests_of,
    file_digest,
    folder_digests,
)
from surrogate.regeneration.feature_choice import chosen_features
from surrogate.regeneration.judging_step import (
    JUDGING,
    VERDICTS_FILE,
    judged_arena,
    judging_records,
)
from surrogate.regeneration.manifest import Option
from surrogate.regeneration.step import Place, Step, Wanted, only
from surrogate.regeneration.versions import (
    MEASURING_LIBRARIES,
    MODELS_LIBRARIES,
    NUMERIC_LIBRARIES,
    versions_of,
)
from surrogate.validation import TournamentSettings, validate

FEATURES = "features"
BOARD = "board"
VALIDATION = "validation"
FEATURES_FILE = "features.parquet"
VALIDATION_FILE = "validation.json"
CACHE_FOLDER = ".feature-cache"


def features_step(board: ConfiguredBoard) -> Step:
    """Return the step that measures the features of a board's answers."""
    chosen = chosen_features(board)
    libraries = (
        (*MEASURING_LIBRARIES, *MODELS_LIBRARIES)
        if any(item.model for item in chosen)
        else MEASURING_LIBRARIES
    )
    return Step(
        board.name,
        FEATURES,
        lambda place: _measure(board, chosen, place),
        files=lambda: _arena_files(board, ARENA_CONTENT) | _model_files(chosen),
        options={"features": [_portable(item) for item in chosen]},
        versions=versions_of(libraries) | {"feature code": code_digest()},
    )


def board_step(board: ConfiguredBoard) -> Step:
    """Return the step that builds a board and writes its folder."""
    return Step(
        board.name,
        BOARD,
        lambda place: _build(board, place),
        files=lambda: (
            _files(board, (*ARENA_CONTENT, *ARENA_JUDGMENTS, *ARENA_REMARKS))
            | _metaevaluations(board)
        ),
        upstream=_upstream(board),
        options=_tournament_options(board, board.options.tournaments)
        | {
            "learner": board.options.surrogate.learner,
            "rows": board.options.surrogate.rows,
            "examples": board.options.examples,
            "holdout": "drawn" if board.options.holdout is None else board.options.holdout,
        },
        versions=versions_of(NUMERIC_LIBRARIES),
    )


def validation_step(board: ConfiguredBoard, options: ValidationOptions) -> Step:
    """Return the step that says how well the board's surrogate ranks what it has not seen."""
    return Step(
        board.name,
        VALIDATION,
        lambda place: _validate(board, options, place),
        files=lambda: _files(board, (*ARENA_CONTENT, *ARENA_JUDGMENTS)),
        upstream=_upstream(board),
        options=_tournament_options(board, options.tournaments)
        | options.model_dump(include={"protocol", "model", "repeats"}),
        versions=versions_of(NUMERIC_LIBRARIES),
    )


def _measure(board: ConfiguredBoard, chosen: Sequence[Feature], place: Place) -> str:
    options = board.options
    table = extract(
        read_arena(board.arena),
        chosen,
        n_jobs=place.n_jobs,
        progress=place.progress,
        models=ModelOptions(options.device, options.batch_size, options.download),
        cache=place.out / CACHE_FOLDER,
    )
    write_rows(table, place.target / FEATURES_FILE)
    return ""


def _build(board: ConfiguredBoard, place: Place) -> str:
    options = board.options
    arena = judged_arena(board, place.board)
    learned_from = arena.judged_by(board.judge).judges[0]
    built = build_board(
        arena,
        board.judge,
        feature_table=read_feature_table(_feature_table(board, place)),
        tournaments=options.tournaments,
        questions=options.questions,
        ties=options.ties,
        ridge=options.ridge,
        holdout=options.holdout,
        recipe=Recipe(options.surrogate.learner, options.surrogate.rows),
        examples=options.examples,
        records=judging_records(board, learned_from, place),
        seed=options.seed,
        n_jobs=place.n_jobs,
        progress=place.progress,
    )
    write_board(built, place.target, board.arena)
    return ""


def _validate(board: ConfiguredBoard, options: ValidationOptions, place: Place) -> str:
    validated = validate(
        judged_arena(board, place.board),
        options.protocol,
        options.model,
        judge=board.judge,
        feature_table=read_feature_table(_feature_table(board, place)),
        repeats=options.repeats,
        tournaments=TournamentSettings(
            options.tournaments,
            board.options.questions,
            board.options.ties,
            board.options.ridge,
            board.options.seed,
        ),
        n_jobs=place.n_jobs,
        progress=place.progress,
    )
    text = json.dumps(validated.as_json(), indent=2, ensure_ascii=False, allow_nan=False)
    (place.target / VALIDATION_FILE).write_text(text + "\n", encoding="utf-8")
    return ""


def _feature_table(board: ConfiguredBoard, place: Place) -> Path:
    if board.options.feature_table is not None:
        return board.base / board.options.feature_table
    return place.of(FEATURES) / FEATURES_FILE


def _upstream(board: ConfiguredBoard) -> dict[str, Wanted]:
    stages: dict[str, Wanted] = {}
    if board.options.judging is not None:
        stages[JUDGING] = only(VERDICTS_FILE, FAILURES_FILE)
    if board.options.feature_table is None:
        stages[FEATURES] = only(FEATURES_FILE)
    return stages


def _files(board: ConfiguredBoard, names: tuple[str, ...]) -> Digests:
    table = board.options.feature_table
    digests = _arena_files(board, names)
    if table is not None and (board.base / table).is_file():
        digests[f"feature table/{Path(table).name}"] = file_digest(board.base / table)
    return digests


def _arena_files(board: ConfiguredBoard, names: tuple[str, ...]) -> Digests:
    return {f"arena/{name}": item for name, item in digests_of(board.arena, names).items()}


def _metaevaluations(board: ConfiguredBoard) -> Digests:
    named = (board.base / name for name in board.options.metaevaluation)
    files = [path / METAEVALUATION_FILE if path.is_dir() else path for path in named]
    return {
        f"metaevaluation/{number}": file_digest(path)
        for number, path in enumerate(files, start=1)
        if path.is_file()
    }


def _model_files(chosen: Sequence[Feature]) -> Digests:
    """Digest models that are folders; those with a name on the hub are known by it."""
    folders = {Path(item.model) for item in chosen if item.model and Path(item.model).is_dir()}
    return {
        f"model {folder.name}/{name}": digest
        for folder in sorted(folders)
        for name, digest in folder_digests(folder).items()
    }


def _portable(feature: Feature) -> str:
    """Name a feature without the place of its model on this machine."""
    model = feature.model
    if model is None or not Path(model).is_absolute():
        return str(feature)
    return str(feature).replace(model, Path(model).name)


def _tournament_options(board: ConfiguredBoard, tournaments: int) -> dict[str, Option]:
    options = board.options
    return {
        "judge": board.judge,
        "tournaments": tournaments,
        "questions": options.questions,
        "ties": options.ties,
        "ridge": options.ridge,
        "seed": options.seed,
    }
