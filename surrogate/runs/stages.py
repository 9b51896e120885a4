"""The stages from an arena to what is published: judging, features, board, validation, pages."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from arena.data.arena import Arena
from arena.data.errors import UsageError
from arena.data.files import file_digest
from arena.data.folder import FAILED_JUDGMENTS, TABLES, as_rows, checked_arena, read_arena
from arena.data.published import TABLE as PUBLISHED_TABLE
from arena.data.rows import SUFFIXES, plain_records, read_rows, write_rows
from arena.data.schema import CHOSEN, INFO_FILE, QUESTION_KEY
from arena.data.systems import SYSTEMS_TABLE
from arena.judging.pairs import PAIR_COLUMNS
from arena.judging.settings import JudgingSettings
from arena.llm.replies import FINAL, UNPARSABLE
from arena.llm.settings import canonical_json
from features.declare.feature import Feature
from features.engine.cache import code_digest
from features.engine.extraction import extract
from features.models.scorer import ModelOptions
from surrogate.board.board import Board
from surrogate.board.build import build_board
from surrogate.board.judge_report import (
    METAEVALUATION_FILE,
    JudgingRecords,
    read_judging_records,
)
from surrogate.board.rows import VANISHED
from surrogate.board.settings import board_judge
from surrogate.board.tables import (
    FEATURES_FILE,
    MANIFEST_FILE,
    SURROGATE_FILE,
    read_feature_table,
)
from surrogate.learning.names import find_surrogate
from surrogate.publish.exports.tables import (
    ALL,
    EXPORT_SUFFIXES,
    OVERALL,
    exported_board,
    write_export,
)
from surrogate.publish.figures.board_figures import board_drawings
from surrogate.publish.figures.figure import FORMATS, save
from surrogate.publish.site.site import write_site
from surrogate.ranking.prior import expected_systems
from surrogate.runs.config import ConfiguredBoard, ValidationOptions
from surrogate.runs.steps import (
    Digests,
    Step,
    Wanted,
    Workplace,
    folder_digests,
    versions_of,
)
from surrogate.validation import TournamentSettings, validate

JUDGING, FEATURES, BOARD, VALIDATION = "judging", "features", "board", "validation"
STORE_FILE = "judging.sqlite"
VERDICTS_FILE = "judgments.parquet"
JUDGING_FILE = "judging.json"
VALIDATION_FILE = "validation.json"
CACHE_FOLDER = ".feature-cache"
NOT_DRAWN_FILE = "not_drawn.txt"
"""Which figures the board has not the tables for, and why."""

_QUERIES, _ANSWERS, _JUDGMENTS = TABLES
_CONTENT = (
    INFO_FILE,
    *(f"{table}{suffix}" for table in (_QUERIES, _ANSWERS) for suffix in SUFFIXES),
)
"""Files of an arena folder that answers are measured on."""
_JUDGED = tuple(f"{name}{suffix}" for name in (_JUDGMENTS, PUBLISHED_TABLE) for suffix in SUFFIXES)
_REMARKS = (FAILED_JUDGMENTS, METAEVALUATION_FILE)
"""Files of an arena folder that are told of on a board."""

_NUMERIC = ("numpy", "scipy", "pandas", "scikit-learn")
_MEASURING = ("numpy", "py3langid", "langid", "rapidfuzz", "regex", "sentencex", "pythainlp")
_MODELS = ("torch", "transformers", "sentence-transformers", "tokenizers")
_VERDICT_OPTIONS = {
    *("model", "name", "questions", "pairs", "both_orders", "languages"),
    *(
        "budget",
        "until",
        "panel",
        "form",
        "verdict",
        "show",
        "longest_answer",
        "longest_passage",
    ),
    *("temperature", "max_tokens", "seed"),
}
"""Options of judging that a verdict depends on; not where and how fast it is asked for."""
_ITS_SURROGATE = {"surrogate", "rows", "missing"}
_FINAL = {*FINAL, UNPARSABLE}
"""Failures that would be the same if the pair were asked again."""


def steps_of(board: ConfiguredBoard) -> Iterator[Step]:
    """Yield the steps of a board, each after those it rests on."""
    after = board.options.after
    if board.judging is not None:
        yield _judging_step(board, board.judging)
    if board.options.feature_table is None:
        yield _features_step(board)
    yield _board_step(board)
    if after.validation is not None:
        yield _validation_step(board, after.validation)
    if after.site:
        yield _site_step(board)
    if after.plots:
        yield _published(board, "plots", _write_figures, "pandas", "matplotlib")
    if after.exports:
        step = _published(board, "exports", _exporter(after.exports), "pandas", "pyarrow")
        yield replace(step, options={"formats": sorted(set(after.exports))})


def _judging_step(board: ConfiguredBoard, options: JudgingSettings) -> Step:
    return Step(
        board.name,
        JUDGING,
        lambda place: _judge(board, options, place),
        files=lambda: (
            folder_digests(board.arena, (*_CONTENT, *_JUDGED), "arena/")
            | _template_file(options)
            | _prior_files(options)
        ),
        options=options.model_dump(mode="json", include=_VERDICT_OPTIONS)
        | {"body": canonical_json(options.body)},
        versions=versions_of("openai", "jinja2"),
    )


def _features_step(board: ConfiguredBoard) -> Step:
    features = board.features()
    libraries = (*_MEASURING, *_MODELS) if any(item.model for item in features) else _MEASURING
    return Step(
        board.name,
        FEATURES,
        lambda place: _measure(board, features, place),
        files=lambda: folder_digests(board.arena, _CONTENT, "arena/") | _model_files(features),
        options={"features": [_portable(item) for item in features]},
        versions=versions_of(*libraries) | {"feature code": code_digest()},
    )


def _board_step(board: ConfiguredBoard) -> Step:
    settings = board.settings
    drawn = {"holdout": "drawn"} if settings.holdout is None else {}
    return Step(
        board.name,
        BOARD,
        lambda place: _build(board, place),
        files=lambda: _files(board, *_REMARKS),
        upstream=_upstream(board),
        options=settings.model_dump(mode="json", exclude={"features"}) | drawn,
        versions=versions_of(*_NUMERIC),
    )


def _validation_step(board: ConfiguredBoard, options: ValidationOptions) -> Step:
    shared = {"judge", "questions", "ties", "ridge", "seed"}
    if options.surrogate is None:
        shared |= _ITS_SURROGATE
    return Step(
        board.name,
        VALIDATION,
        lambda place: _validate(board, options, place),
        files=lambda: _files(board),
        upstream=_upstream(board),
        options=board.settings.model_dump(include=shared) | options.model_dump(exclude_none=True),
        versions=versions_of(*_NUMERIC),
    )


def _published(
    board: ConfiguredBoard, stage: str, publish: Callable[[Path, Path], object], *libraries: str
) -> Step:
    """Return a step that makes files of a board's folder."""

    def make(place: Workplace) -> None:
        publish(place.of(BOARD), place.target)

    return Step(
        board.name,
        stage,
        make,
        upstream={BOARD: lambda name: name != SURROGATE_FILE},
        versions=versions_of(*libraries),
    )


def _site_step(board: ConfiguredBoard) -> Step:
    """Return the step that writes pages, which show answers and verdicts too."""

    def make(place: Workplace) -> None:
        arena = judged_arena(board, place.board)
        write_site(Board.load(place.of(BOARD)), place.target, arena)

    verdicts = {name: wanted for name, wanted in _upstream(board).items() if name == JUDGING}
    return Step(
        board.name,
        "site",
        make,
        files=lambda: folder_digests(board.arena, (*_CONTENT, *_JUDGED), "arena/"),
        upstream={**verdicts, BOARD: lambda name: name != SURROGATE_FILE},
        versions=versions_of("pandas", "jinja2"),
    )


def _judge(board: ConfiguredBoard, options: JudgingSettings, place: Workplace) -> str:
    from arena.judging import judge
    from arena.judging.run import lasting_failures
    from arena.llm import Budget, open_store

    arena = read_arena(board.arena)
    prior = None
    if options.prior is not None:
        prior = expected_systems(Board.load(options.prior), arena, n_jobs=place.n_jobs)
    budget = Budget(options.max_calls)
    pairs = options.pair_chooser(arena, prior, lasting_failures(board.arena), budget)
    path = place.out / STORE_FILE if options.store is None else board.base / options.store
    with open_store(str(path)) as store:
        judges = options.llm_judges()
        judging = judge(arena, judges, pairs, store, budget=budget, progress=place.progress)
    failures = judging.failure_counts
    if judging.failed:
        raise UsageError(f"no pair that was asked got a verdict: {_counted(failures)}")
    tables = (
        [judging.judgments]
        if judging.panel is None
        else [judging.judgments, judging.panel.judgments]
    )
    verdicts = pd.concat([table.astype(object) for table in tables], ignore_index=True)
    key = [*PAIR_COLUMNS, "judge"]
    there, found = (pd.MultiIndex.from_frame(table[key]) for table in (arena.judgments, verdicts))
    order = [*QUESTION_KEY, "system_a", "system_b", "judge"]
    ordered = verdicts[~found.isin(there)].sort_values(order, kind="stable")
    write_rows(ordered.reset_index(drop=True), place.target / VERDICTS_FILE)
    write_rows(judging.failures, place.target / FAILED_JUDGMENTS)
    content = [summary.as_json() for summary in judging.summaries]
    told = content[0] if len(content) == 1 else {"judges": content}
    _write_json(told, place.target / JUDGING_FILE)
    left = {name: count for name, count in failures.items() if name not in _FINAL}
    return f"pairs without a verdict: {_counted(left)}" if left else ""


def _prior_files(options: JudgingSettings) -> Digests:
    """What a prior is, by the manifest of its board."""
    if options.prior is None:
        return {}
    path = Path(options.prior) / MANIFEST_FILE
    return {"prior/manifest.json": file_digest(path)} if path.is_file() else {}


def _template_file(options: JudgingSettings) -> Digests:
    if options.template is None:
        return {}
    path = Path(options.template)
    return {f"template/{path.name}": file_digest(path)} if path.is_file() else {}


def _counted(failures: dict[str, int]) -> str:
    return ", ".join(f"{count} {reason}" for reason, count in sorted(failures.items())) or "none"


def _measure(board: ConfiguredBoard, features: Sequence[Feature], place: Workplace) -> None:
    options = board.options
    table = extract(
        read_arena(board.arena),
        features,
        n_jobs=place.n_jobs,
        progress=place.progress,
        models=ModelOptions(
            options.device, options.batch_size, options.download, templates=board.templates
        ),
        cache=place.out / CACHE_FOLDER,
    )
    write_rows(table, place.target / FEATURES_FILE)


def _build(board: ConfiguredBoard, place: Workplace) -> None:
    arena = judged_arena(board, place.board)
    judge = board_judge(arena, board.settings)
    built = build_board(
        arena,
        board.settings,
        feature_table=_feature_table(board, place),
        records=None if judge is None else _judging_records(board, judge, place),
        n_jobs=place.n_jobs,
        progress=place.progress,
    )
    built.save(place.target, board.arena)
    lost = built.ratings[built.ratings["note"] == VANISHED]
    for system, rows in lost.groupby("system"):
        place.cautions.append(f"{system} in {', '.join(rows['language'])}: {VANISHED}")


def _validate(board: ConfiguredBoard, options: ValidationOptions, place: Workplace) -> None:
    settings = board.settings
    own = find_surrogate(settings.surrogate, rows=settings.rows, missing=settings.missing)
    validated = validate(
        judged_arena(board, place.board),
        options.protocol,
        options.surrogate or own,
        judge=board.judge,
        feature_table=_feature_table(board, place),
        repeats=options.repeats,
        tournaments=TournamentSettings(
            options.tournaments, settings.questions, settings.ties, settings.ridge, settings.seed
        ),
        n_jobs=place.n_jobs,
        progress=place.progress,
    )
    content = {"table": plain_records(validated.table), "signature": validated.signature}
    _write_json(content, place.target / VALIDATION_FILE)


def judged_arena(board: ConfiguredBoard, folder: Path) -> Arena:
    """Read a board's arena together with the verdicts of its judging step.

    Args:
        board: The board.
        folder: Folder of the board.

    Raises:
        UsageError: If the arena folder or one of its files is absent.
        DataError: If its content is at fault.
    """
    arena = read_arena(board.arena)
    if board.options.judging is None:
        return arena
    verdicts = read_rows(folder / JUDGING / VERDICTS_FILE).table
    names = [*arena.judgments, *({CHOSEN} & {*verdicts} - {*arena.judgments})]
    parts = [arena.judgments.reindex(columns=names), verdicts.reindex(columns=names)]
    judgments = pd.concat([part.astype(object) for part in parts], ignore_index=True)
    return checked_arena(
        arena.info,
        as_rows(arena.queries, "queries"),
        as_rows(arena.answers, "answers"),
        as_rows(judgments, f"{JUDGING}/{VERDICTS_FILE}"),
        as_rows(arena.published_ratings, PUBLISHED_TABLE),
        as_rows(arena.attributes, SYSTEMS_TABLE),
    )


def _judging_records(board: ConfiguredBoard, judge: str, place: Workplace) -> JudgingRecords:
    """Read what is known of a judge beside its judgments."""
    records = read_judging_records(board.arena, judge)
    if board.options.judging is None:
        return records
    failures = read_judging_records(place.of(JUDGING), judge).failures
    return records.model_copy(update={"failures": failures})


def _feature_table(board: ConfiguredBoard, place: Workplace) -> pd.DataFrame:
    given = board.options.feature_table
    return read_feature_table(
        place.of(FEATURES) / FEATURES_FILE if given is None else board.base / given
    )


def _upstream(board: ConfiguredBoard) -> dict[str, Wanted]:
    stages: dict[str, Wanted] = {}
    if board.options.judging is not None:
        stages[JUDGING] = lambda name: name in (VERDICTS_FILE, FAILED_JUDGMENTS)
    if board.options.feature_table is None:
        stages[FEATURES] = lambda name: name == FEATURES_FILE
    return stages


def _files(board: ConfiguredBoard, *remarks: str) -> Digests:
    digests = folder_digests(board.arena, (*_CONTENT, *_JUDGED, *remarks), "arena/")
    table = board.options.feature_table
    if table is not None and (board.base / table).is_file():
        digests[f"feature table/{Path(table).name}"] = file_digest(board.base / table)
    return digests


def _model_files(features: Sequence[Feature]) -> Digests:
    """Digest models that are folders; those with a name on the hub are known by it."""
    folders = {Path(item.model) for item in features if item.model and Path(item.model).is_dir()}
    digests: Digests = {}
    for folder in sorted(folders):
        digests |= folder_digests(folder, prefix=f"model {folder.name}/")
    return digests


def _portable(feature: Feature) -> str:
    """Name a feature without the place of its model on this machine."""
    model = feature.model
    if model is None or not Path(model).is_absolute():
        return str(feature)
    return str(feature).replace(model, Path(model).name)


def _write_figures(board_folder: Path, target: Path) -> None:
    """Draw a board's figures; what cannot be drawn is listed with the reason."""
    reasons = []
    for drawing in board_drawings(Board.load(board_folder)):
        try:
            figure = drawing.draw()
        except UsageError as error:
            reasons.append(f"{drawing.name}: {error}\n")
            continue
        for suffix in FORMATS:
            save(figure, target / f"{drawing.name}.{suffix}")
    if reasons:
        (target / NOT_DRAWN_FILE).write_text("".join(reasons), encoding="utf-8")


def _exporter(formats: Sequence[str]) -> Callable[[Path, Path], None]:
    """Write ranks over all languages, and the rows of every language."""

    def write(board_folder: Path, target: Path) -> None:
        board = Board.load(board_folder)
        for part, name in ((OVERALL, "overall"), (ALL, "languages")):
            exported = exported_board(board, part)
            for chosen in sorted(set(formats)):
                write_export(exported, chosen, target / f"{name}{EXPORT_SUFFIXES[chosen]}")

    return write


def _write_json(content: Any, path: Path) -> None:  # noqa: ANN401 - plain values
    text = json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False)
    path.write_text(text + "\n", encoding="utf-8")
