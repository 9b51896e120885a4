"""The stages from an arena to what is published: judging, features, board, pages and files."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import pandas as pd

from arena.data.arena import Arena
from arena.data.files import file_digest
from arena.data.folder import FAILED_JUDGMENTS, read_arena
from arena.data.published import TABLE as PUBLISHED_TABLE
from arena.data.safe_writes import write_text
from arena.data.schema import INFO_FILE
from arena.data.selection import are_in
from arena.data.tables import SUFFIXES, guarded_csv, read_rows, write_rows
from arena.data.votes import VOTES_FILE
from arena.judging.answer_pairs import PAIR_COLUMNS
from arena.judging.judging_settings import JudgingSettings
from arena.llm.llm_settings import LlmSettings, fields_by_use
from arena.llm.replies import FINAL, UNPARSABLE
from arena.llm.requests import canonical_json
from features.declare.feature import Feature
from features.engine.cache import code_digest
from features.engine.columns import missing_counts
from features.engine.extraction import extract
from features.models.missing_replies import require_replies
from features.models.options import ModelOptions
from surrogate.board.board import Board
from surrogate.board.build import build_board
from surrogate.board.first_place import conclusion, first_place_sentence
from surrogate.board.judge_report import read_judging_records
from surrogate.board.metaevaluations import METAEVALUATION_FILE
from surrogate.board.tables import (
    BOARD_FILES,
    FEATURE_CACHE,
    FEATURES_FILE,
    MANIFEST_FILE,
    SURROGATE_FILE,
    read_feature_table,
)
from surrogate.board.view import board_judges
from surrogate.checks.status import VANISHED
from surrogate.ranking.prior import judging_prior
from surrogate_arena.pages.figures.board_figures import board_drawings
from surrogate_arena.pages.figures.figure import write_drawings
from surrogate_arena.pages.site import INDEX, check_replaceable, site_files, write_site
from surrogate_arena.runs.configured import (
    RATINGS_FILE,
    STORE_FILE,
    ConfiguredBoard,
    ConfiguredOverview,
)
from surrogate_arena.runs.criteria import OVERVIEW, Overview, overview_page, weighted_overview
from surrogate_arena.runs.keeping import FEATURE_TABLE, keep_board
from surrogate_arena.runs.past_boards import HISTORY, read_history
from surrogate_arena.runs.steps import Digests, Step, Workplace, folder_digests, library_versions

JUDGING = "judging"
FEATURES = "features"
BOARD = "board"
SITE = "site"
CRITERIA = "criteria"
"""The overview of several criteria."""
VERDICTS_FILE = "judgments.parquet"
CONTENT = (
    INFO_FILE,
    *(f"{name}{suffix}" for name in ("queries", "answers") for suffix in SUFFIXES),
)
JUDGED = (
    VOTES_FILE,
    *(f"{name}{suffix}" for name in ("judgments", PUBLISHED_TABLE) for suffix in SUFFIXES),
)
REMARKS = (FAILED_JUDGMENTS, METAEVALUATION_FILE)
"""Further files of an arena folder that a board reports on."""
LASTING = {*FINAL, UNPARSABLE}
"""Failures that would be the same if the pair were asked again."""


def steps_of(board: ConfiguredBoard) -> Iterator[Step]:
    """Yield the steps of a board, each after those it rests on."""
    verdicts: dict[str, Sequence[str]] = {}
    if board.judging is not None:
        verdicts = {JUDGING: (VERDICTS_FILE, FAILED_JUDGMENTS)}
        yield _judging_step(board, board.judging)
    features: dict[str, Sequence[str]] = {}
    if board.options.feature_table is None:
        features = {FEATURES: (FEATURES_FILE,)}
        yield _features_step(board)
    options = board.settings.model_dump(mode="json", exclude={"features"})
    if board.settings.holdout is None:
        options["holdout"] = "drawn"
    yield Step(
        board.name,
        BOARD,
        partial(_build, board),
        files=partial(_board_files, board),
        upstream={**verdicts, **features},
        options=options,
    )
    # Pages and figures show nothing of the surrogate, whose bytes differ more often than they.
    tables = [name for name in (*BOARD_FILES, MANIFEST_FILE) if name != SURROGATE_FILE]
    # Past boards are no reason to keep one: only a new board adds to them.
    yield Step(board.name, HISTORY, partial(_keep, board), upstream={BOARD: tables})
    for form in dict.fromkeys(board.options.publish):
        if form == SITE:
            yield _site_step(board, {BOARD: tables, HISTORY: ()}, verdicts)
        else:
            yield Step(board.name, form, _draw, upstream={BOARD: tables})


def _site_step(
    board: ConfiguredBoard,
    upstream: Mapping[str, Sequence[str]],
    verdicts: Mapping[str, Sequence[str]],
) -> Step:
    files: Callable[[], Digests] = dict
    if board.pages.questions:
        # Pages show answers and verdicts of the arena, too.
        files = partial(_arena_digests, board)
        upstream = {**verdicts, **upstream}
    options = {**board.pages.model_dump(mode="json"), "parent": board.parent}
    publish = partial(_publish, board)
    return Step(board.name, SITE, publish, files=files, upstream=upstream, options=options)


def overview_steps(overview: ConfiguredOverview) -> Iterator[Step]:
    """Yield the steps of an overview of criteria, after those of its boards."""
    upstream = {
        f"{name}/{BOARD}": (*BOARD_FILES, MANIFEST_FILE) for name in overview.boards.values()
    }
    options = {"weights": dict(overview.weights)}
    yield Step(
        overview.name,
        CRITERIA,
        partial(_weigh, overview),
        upstream=upstream,
        options=options,
    )
    if overview.has_pages:
        stated = overview.pages.model_dump(mode="json")
        yield Step(
            overview.name,
            SITE,
            partial(_publish_overview, overview),
            upstream=upstream,
            options={**options, **stated, "parent": overview.parent},
        )


def _judging_step(board: ConfiguredBoard, options: JudgingSettings) -> Step:
    def files() -> Digests:
        digests = _arena_digests(board)
        if options.prior is not None:
            digests.update(folder_digests(Path(options.prior), (MANIFEST_FILE,), "prior/"))
        for path in _template_files(options.template):
            digests[f"template/{path.name}"] = file_digest(path)
        return digests

    fields = fields_by_use(JudgingSettings, replies="value") - {"body"}
    step_options = options.model_dump(mode="json", include=set(fields))
    step_options["body"] = canonical_json(options.body)
    return Step(
        board.name, JUDGING, partial(_judge, board, options), files=files, options=step_options
    )


def _template_files(template: str | None) -> list[Path]:
    """Return the file of a template, or the templates in a folder."""
    if not template:
        return []
    path = Path(template)
    paths = path.glob("*.jinja") if path.is_dir() else [path]
    return [path for path in paths if path.is_file()]


def _features_step(board: ConfiguredBoard) -> Step:
    features = board.features()
    folders = {Path(item.model) for item in features if item.model and Path(item.model).is_dir()}

    def files() -> Digests:
        digests = folder_digests(board.arena, CONTENT, "arena/")
        for folder in sorted(folders):
            digests.update(folder_digests(folder, prefix=f"model {folder.name}/"))
        return digests

    options = {"features": list(map(str, features)), "feature code": code_digest()}
    if board.options.llm is not None:
        # The features name the models.
        fields = fields_by_use(LlmSettings, replies="value") - {"model"}
        options["llm"] = canonical_json(board.options.llm.model_dump(include=set(fields)))
    return Step(
        board.name, FEATURES, partial(_measure, board, features), files=files, options=options
    )


def _arena_digests(board: ConfiguredBoard, further: Sequence[str] = ()) -> Digests:
    return folder_digests(board.arena, (*CONTENT, *JUDGED, *further), "arena/")


def _board_files(board: ConfiguredBoard) -> Digests:
    digests = _arena_digests(board, REMARKS)
    table = board.options.feature_table
    if table is not None:
        path = board.base / table
        digests.update(folder_digests(path.parent, (path.name,), f"{FEATURE_TABLE}/"))
    return digests


def _judge(board: ConfiguredBoard, options: JudgingSettings, workplace: Workplace) -> str:
    from arena.judging import judge, questions_to_judge
    from arena.judging.judging_result import lasting_failures, require_verdicts

    arena = read_arena(board.arena)
    store = workplace.out / STORE_FILE if options.store is None else board.base / options.store
    prior = None
    if options.is_adaptive:
        questions = questions_to_judge(arena, options)
        prior = judging_prior(
            arena, questions, options.prior, seed=options.seed, n_jobs=workplace.n_jobs
        )
    judging = judge(
        arena,
        options,
        store,
        prior=prior,
        failed=lasting_failures(board.arena),
        progress=workplace.progress,
    )
    if judging.error is not None:
        # The board rests on both judges. What was paid for is in the store, for the next run.
        raise judging.error
    require_verdicts(judging.usage)
    tables = [judging.judgments]
    if judging.panel is not None:
        tables.append(judging.panel.judgments)
    verdicts = pd.concat([table.astype(object) for table in tables], ignore_index=True)
    key = [*PAIR_COLUMNS, "judge"]
    # A panel's verdicts include those that the arena has from earlier runs.
    is_in_arena = are_in(verdicts, arena.judgments, key)
    ordered = verdicts[~is_in_arena].sort_values(key, kind="stable")
    write_rows(ordered.reset_index(drop=True), workplace.target / VERDICTS_FILE)
    write_rows(judging.failures, workplace.target / FAILED_JUDGMENTS)
    counts = [
        f"{count} {reason}"
        for reason, count in sorted(judging.usage.failures.items())
        if reason not in LASTING
    ]
    return f"pairs without a verdict: {', '.join(counts)}" if counts else ""


def _measure(board: ConfiguredBoard, features: Sequence[Feature], workplace: Workplace) -> None:
    from arena.llm.usage import Budget

    llm = board.options.llm
    if llm is not None:
        store = workplace.out / RATINGS_FILE if llm.store is None else board.base / llm.store
        # Built from what was set alone, so that the rest keeps the prompts' defaults.
        llm = LlmSettings(**{**llm.model_dump(exclude_unset=True), "store": str(store)})
    budget = Budget(None if llm is None else llm.max_calls)
    table = extract(
        read_arena(board.arena),
        features,
        n_jobs=workplace.n_jobs,
        progress=workplace.progress,
        models=ModelOptions(download=board.options.download, llm=llm, budget=budget),
        cache=workplace.out / FEATURE_CACHE,
    )
    require_replies(missing_counts(table), len(table), budget.usages_by_model())
    write_rows(table, workplace.target / FEATURES_FILE)


def _build(board: ConfiguredBoard, workplace: Workplace) -> None:
    arena = judged_arena(board, workplace.board)
    judges = board_judges(arena, board.settings)
    judging_records = None
    if judges:
        judging_records = read_judging_records(board.arena, judges[0])
        if board.judging is not None:
            failures = read_judging_records(workplace.board / JUDGING, judges[0]).failures
            judging_records = judging_records.model_copy(update={"failures": failures})
    table_path = workplace.board / FEATURES / FEATURES_FILE
    if board.options.feature_table is not None:
        table_path = board.base / board.options.feature_table
    built = build_board(
        arena,
        board.settings,
        feature_table=read_feature_table(table_path, arena.answers),
        judging_records=judging_records,
        n_jobs=workplace.n_jobs,
        progress=workplace.progress,
    )
    is_unreliable = built.summary.macro.is_unreliable
    # The fault of an unreliable judge stands below, among the cautions.
    shown = first_place_sentence if is_unreliable else conclusion
    workplace.page_facts["conclusion"] = shown(built)
    built.save(workplace.target, board.arena)
    if is_unreliable:
        workplace.cautions.append(built.summary.macro.judge_fault)
    lost = built.ratings[built.ratings["note"] == VANISHED]
    for system, rows in lost.groupby("system"):
        workplace.cautions.append(f"{system} in {', '.join(rows['language'])}: {VANISHED}")


def judged_arena(board: ConfiguredBoard, folder: Path) -> Arena:
    """Read a board's arena together with the verdicts of its judging step, in its folder."""
    arena = read_arena(board.arena)
    if board.judging is None:
        return arena
    verdicts = read_rows(folder / JUDGING / VERDICTS_FILE).table
    judgments = pd.concat([arena.judgments, verdicts], ignore_index=True)
    return replace(arena, judgments=judgments)


def _keep(board: ConfiguredBoard, workplace: Workplace) -> None:
    """Keep the board among the past ones, if it differs from the last of them."""
    inputs = _board_files(board)
    inputs |= folder_digests(workplace.board / JUDGING, (VERDICTS_FILE,), "judging/")
    versions = library_versions()
    built = Board.load(workplace.board / BOARD)
    answers = read_arena(board.arena, is_judged=False).answers
    keep_board(built, workplace.before, workplace.target, inputs, versions, answers)


def _publish(board: ConfiguredBoard, workplace: Workplace) -> None:
    """Write the pages of a board as ``publish`` does, with its past."""
    check_replaceable(workplace.before)
    records = read_history(workplace.board / HISTORY)
    settings = board.pages
    if settings.date is None and records:
        settings = settings.model_copy(update={"date": records[-1].entry.date})
    write_site(
        Board.load(workplace.board / BOARD),
        workplace.target,
        judged_arena(board, workplace.board) if settings.questions else None,
        settings,
        parent=board.parent,
        history=[record.entry for record in records],
    )


def _draw(workplace: Workplace) -> None:
    """Write the figures of a board as ``publish`` does."""
    write_drawings(board_drawings(Board.load(workplace.board / BOARD)), workplace.target)


def _criteria(overview: ConfiguredOverview, workplace: Workplace) -> Overview:
    boards = {
        criterion: Board.load(workplace.out / name / BOARD)
        for criterion, name in overview.boards.items()
    }
    return weighted_overview(boards, weights=overview.weights)


def _weigh(overview: ConfiguredOverview, workplace: Workplace) -> None:
    """Sum up the boards of several criteria."""
    summed = _criteria(overview, workplace)
    write_text(guarded_csv(summed.table), workplace.target / OVERVIEW)
    workplace.page_facts["conclusion"] = summed.sentence


def _publish_overview(overview: ConfiguredOverview, workplace: Workplace) -> None:
    check_replaceable(workplace.before)
    summed = _criteria(overview, workplace)
    dates = []
    for name in overview.boards.values():
        dates += [record.entry.date for record in read_history(workplace.out / name / HISTORY)]
    settings = overview.pages
    if settings.date is None and dates:
        settings = settings.model_copy(update={"date": max(dates)})
    links = {criterion: f"../{name}/{INDEX}" for criterion, name in overview.boards.items()}
    page = overview_page(summed, links, settings, parent=overview.parent)
    with site_files(workplace.target) as folder:
        write_text(page, folder / INDEX)
