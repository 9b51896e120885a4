"""The steps from an arena to its board: features, the board, its validation."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import MappingProxyType

from arena.data.errors import UsageError
from arena.data.folder import read_arena
from arena.data.rows import write_rows
from arena.judging.folder import FAILURES_FILE
from features.declare.feature import Feature
from features.engine.extraction import extract
from features.engine.source_digest import code_digest
from features.models.scorer import ModelOptions
from surrogate.board.board import Board
from surrogate.board.build import build_board
from surrogate.board.tables import SURROGATE_FILE, read_feature_table
from surrogate.metaevaluation.results import FILE_NAME as METAEVALUATION_FILE
from surrogate.publish import exports
from surrogate.publish.exports.tables import ALL, OVERALL, ExportedBoard
from surrogate.publish.figures.board_figures import board_drawings
from surrogate.publish.figures.figure import save
from surrogate.runs.config import ExportFormat, ValidationOptions, chosen_features
from surrogate.runs.config_file import ConfiguredBoard
from surrogate.runs.judging_step import JUDGING, VERDICTS_FILE, judged_arena, judging_records
from surrogate.runs.steps import (
    ARENA_CONTENT,
    ARENA_JUDGMENTS,
    ARENA_REMARKS,
    DRAWING_LIBRARIES,
    EXPORTING_LIBRARIES,
    MEASURING_LIBRARIES,
    MODELS_LIBRARIES,
    NUMERIC_LIBRARIES,
    PUBLISHING_LIBRARIES,
    Digests,
    Option,
    Place,
    Step,
    Wanted,
    all_but,
    digests_of,
    file_digest,
    folder_digests,
    only,
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
        versions=versions_of(libraries) | {"feature code": code_digest(chosen)},
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
            "surrogate": board.options.surrogate,
            "rows": board.options.rows,
            "examples": board.options.examples,
            "holdout": "drawn" if board.options.holdout is None else [*board.options.holdout],
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
        options.settings(),
        judge=board.judge,
        feature_table=read_feature_table(_feature_table(board, place)),
        records=judging_records(board, learned_from, place),
        n_jobs=place.n_jobs,
        progress=place.progress,
    )
    built.save(place.target, board.arena)
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


Write = Callable[[ExportedBoard, Path], object]


def _written(text_of: Callable[[ExportedBoard], str]) -> Write:
    return lambda board, path: path.write_text(text_of(board), encoding="utf-8", newline="\n")


_FORMATS: MappingProxyType[ExportFormat, tuple[str, Write]] = MappingProxyType(
    {
        "csv": (".csv", _written(exports.csv_text)),
        "json": (".json", _written(exports.json_text)),
        "parquet": (".parquet", exports.write_parquet),
        "latex": (".tex", _written(exports.latex_table)),
        "markdown": (".md", _written(exports.markdown_table)),
    }
)


def write_exports(board_folder: Path, target: Path, formats: Sequence[ExportFormat]) -> None:
    """Write a board's tables: ranks over all languages, and the rows of every language.

    Args:
        board_folder: What ``surrogate-arena board`` wrote.
        target: Folder to write to.
        formats: Formats to write, each as ``overall`` and ``languages``.
    """
    tables = Board.load(board_folder)
    for part, name in ((OVERALL, "overall"), (ALL, "languages")):
        board = exports.exported_board(tables, part)
        for chosen in formats:
            suffix, write = _FORMATS[chosen]
            write(board, target / f"{name}{suffix}")


FORMATS = ("png", "svg")
NOT_DRAWN_FILE = "not_drawn.txt"
"""Which figures the board has not the tables for, and why."""


def write_figures(board_folder: Path, target: Path) -> None:
    """Draw a board's figures; what cannot be drawn is listed with the reason.

    Args:
        board_folder: What ``surrogate-arena board`` wrote.
        target: Folder to write to.

    Raises:
        MissingDependencyError: If matplotlib is not installed.
    """
    tables = Board.load(board_folder)
    reasons = []
    for drawing in board_drawings(tables):
        try:
            figure = drawing.draw()
        except UsageError as error:
            reasons.append(f"{drawing.name}: {error}")
            continue
        for suffix in FORMATS:
            save(figure, target / f"{drawing.name}.{suffix}")
    if reasons:
        (target / NOT_DRAWN_FILE).write_text("\n".join(reasons) + "\n", encoding="utf-8")


SITE = "site"
PLOTS = "plots"
EXPORTS = "exports"

Publish = Callable[[Path, Path], object]


def published_steps(board: ConfiguredBoard) -> Iterator[Step]:
    """Yield the steps that make of a board what its options ask for."""
    after = board.options.after
    if after.site:
        yield _step(board, SITE, _write_site, PUBLISHING_LIBRARIES)
    if after.plots:
        yield _step(board, PLOTS, _write_plots, DRAWING_LIBRARIES)
    if after.exports:
        formats = sorted(set(after.exports))
        write = partial(_write_exports, formats=formats)
        yield _step(board, EXPORTS, write, EXPORTING_LIBRARIES, {"formats": list[str](formats)})


def _step(
    board: ConfiguredBoard,
    stage: str,
    publish: Publish,
    libraries: tuple[str, ...],
    options: Mapping[str, Option] = MappingProxyType({}),
) -> Step:
    def make(place: Place) -> str:
        publish(place.of(BOARD), place.target)
        return ""

    return Step(
        board.name,
        stage,
        make,
        upstream={BOARD: all_but(SURROGATE_FILE)},
        options=options,
        versions=versions_of(libraries),
    )


def _write_site(board_folder: Path, target: Path) -> object:
    from surrogate.publish.site.site import write_site

    return write_site(board_folder, target)


def _write_plots(board_folder: Path, target: Path) -> None:
    pass

    write_figures(board_folder, target)


def _write_exports(board_folder: Path, target: Path, formats: Sequence[ExportFormat]) -> None:
    pass

    write_exports(board_folder, target, formats)
