"""A board as a site: its pages written."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

from arena.data.arena import Arena
from arena.data.errors import ArenaError, MissingDependencyError, UsageError
from arena.data.folder import open_arena
from arena.data.languages import language_name
from arena.data.schema import QUESTION_KEY
from arena.data.tables import write_rows
from arena.data.wording import Remark, short_digest
from arena.data.writing import write_text
from arena.rating.judgments import copies_of_others
from features.engine.extraction import missing_counts
from surrogate.board.board import Board
from surrogate.board.remarks import (
    cautions,
    conclusion,
    conclusions_of_use,
    facts,
    headline,
    in_its_language,
    judge_tests,
    judged_by,
    limits,
    on_judge,
    skipped,
    standings,
    trust_remarks,
)
from surrogate.board.summary import fingerprint
from surrogate.board.view import arena_view, with_own_verdicts
from surrogate.checks.faults import AnswerFaults, arena_faults
from surrogate_arena.costs.costs import cost_table
from surrogate_arena.pages.board_page import (
    SPLIT_NAMES,
    board_page,
    board_record,
    caution_of,
    described_systems,
    licenses_of,
)
from surrogate_arena.pages.cost_page import cost_page, cost_remark
from surrogate_arena.pages.examples import Examples
from surrogate_arena.pages.fault_tables import FaultTables
from surrogate_arena.pages.feed import FEED
from surrogate_arena.pages.figures.figure import save
from surrogate_arena.pages.figures.preview import draw_preview
from surrogate_arena.pages.formats import name_parts, slugs
from surrogate_arena.pages.history import HistoryEntry, history_view
from surrogate_arena.pages.pages import filled
from surrogate_arena.pages.pair_texts import Texts
from surrogate_arena.pages.pairs import MOST_SYSTEMS, pair_page
from surrogate_arena.pages.site_folder import check_replaceable, site_folder
from surrogate_arena.pages.site_settings import SiteSettings, chosen_site
from surrogate_arena.pages.submit_page import submit_page
from surrogate_arena.pages.views import SystemPages

INDEX = "index.html"
RECORD = "board.json"
"""A board for other programs: its remarks and rows."""
PICTURE = "preview.png"
"""What is shown where a link to a board is shared."""
QUESTIONS = "questions.csv"
"""Questions that submitted systems answer."""
EMBEDDED = 5
"""Systems of the page that others embed."""
FIRST_LANGUAGE = "en"
HIDDEN = "Questions and answers are not published."
"""Why a site shows no answers where none are to be shown."""
SCRIPTS = {"index": ("tables.js", "board.js"), "pairs": ("tables.js", "pairs.js")}
"""Name of a page to its scripts, where it has others than tables that sort."""


def write_site(
    board: Board,
    out: Path | str,
    arena: Arena | Path | str | None = None,
    settings: SiteSettings | None = None,
    *,
    parent: str = "",
    is_served: bool = False,
    history: Sequence[HistoryEntry] = (),
    faults: AnswerFaults | None = None,
    **options: Any,  # noqa: ANN401 - fields of SiteSettings
) -> Path:
    """Write a board as HTML pages that need no server.

    The same board and arena give the same bytes.

    Args:
        board: The board.
        out: Folder to write to; a site there is replaced.
        arena: The board's arena, or its folder, for answers side by side.
        settings: What the pages state and show.
        parent: Title of the page one folder up.
        is_served: Whether ``view`` serves the pages.
        history: States of the board, oldest first, with the present one.
        faults: Of the arena's answers; by default found here.
        options: Fields of ``SiteSettings``.

    Returns:
        The first page.

    Raises:
        UsageError: If ``out`` holds other files, or the arena or a setting does not fit.
        DataError: If a file is damaged.

    Examples:
        >>> from surrogate_arena import build_board, sample_arena
        >>> board = build_board(sample_arena(), judge="gpt-4o", features="citations", tournaments=5)
        >>> write_site(board, "site").name
        'index.html'
    """
    out = Path(out)
    check_replaceable(out)
    chosen = chosen_site(settings, options)
    source = _arenas(board, arena)
    costs = pd.DataFrame()
    texts: Texts | str = HIDDEN
    tables = None
    about: dict[str, Any] = {}
    licenses: list[str] = []
    questions: pd.DataFrame | None = None
    if isinstance(source, tuple):
        whole, judged = source
        costs = cost_table(board, judged)
        about = described_systems(whole.attributes)
        licenses = licenses_of(whole.attributes)
        faults = arena_faults(whole) if faults is None else faults
        if faults is not None:
            tables = FaultTables(whole, faults, has_texts=chosen.questions > 0)
        if chosen.questions and chosen.submissions:
            questions = whole.queries[[*QUESTION_KEY, "query"]]
        if chosen.questions:
            texts = Texts(judged, board.summary.settings.seed, chosen.questions)
    elif chosen.questions:
        texts = f"The answers are not here: {source}"
    values = {
        "parent": parent,
        "history": history,
        "faults": tables,
        "about": about,
        "licenses": licenses,
        "asked": questions,
    }
    with site_folder(out) as folder:
        _write_pages(board, texts, costs, folder, chosen, values, is_served=is_served)
    return out / INDEX


def _arenas(board: Board, source: Arena | Path | str | None) -> tuple[Arena, Arena] | str:
    """Return the board's arena, also in its parts with its judge's verdicts, or why not."""
    try:
        whole = open_arena(board.own_arena() if source is None else source)
        settings = board.summary.settings
        arena = arena_view(whole, settings, settings.temperatures)
        if fingerprint(arena) != board.summary.fingerprint:
            raise UsageError(
                f"arena {arena.info.name!r} has other questions, passages or reference answers "
                "than the one the board was built from; build the board again"
            )
        judged = with_own_verdicts(arena, settings)
        is_copy = copies_of_others(judged.judgments)
        return whole, replace(judged, judgments=judged.judgments[~is_copy])
    except ArenaError as error:
        # A user who names an arena wants its answers; a board alone is published without them.
        if source is not None:
            raise
        return str(error)


def _write_pages(
    board: Board,
    texts: Texts | str,
    costs: pd.DataFrame,
    folder: Path,
    settings: SiteSettings,
    values: Mapping[str, Any],
    *,
    is_served: bool,
) -> None:
    languages = list(board.languages)
    by_name = sorted(languages, key=language_name)
    first = FIRST_LANGUAGE if FIRST_LANGUAGE in languages else languages[0]
    files = slugs(languages)
    names = slugs(board.systems)
    shared = {
        **values,
        **_shared_values(board, by_name, settings),
        "slugs": names,
        "address": settings.address.rstrip("/"),
        "picture": "",
        "pairs": files[first],
        "has_answers": isinstance(texts, Texts),
        "has_costs": not costs.empty,
        "caution": board.summary.macro.judge_fault or caution_of(board),
        "feed": f"../{FEED}" if values["parent"] else "",
    }
    if _draw_picture(board, shared["title"], settings, folder):
        shared["picture"] = PICTURE
    write = partial(_write_page, folder, shared, is_served)
    write("index", view=board_page(board, names, by_name), chips=list(trust_remarks(board)))
    faults: FaultTables | None = values["faults"]
    further = [] if faults is None else faults.remarks
    if not costs.empty:
        further.append(cost_remark(board, costs))
    record = board_record(board, settings, further)
    write_text(json.dumps(record, ensure_ascii=False, indent=1) + "\n", folder / RECORD)
    write("embed", rows=record["systems"][:EMBEDDED])
    write(
        "judge",
        report=board.judge_report,
        tests=list(judge_tests(board)),
        conclusions=conclusions_of_use(board),
        cautions=_cautions(board),
    )
    if not costs.empty:
        write("costs", view=cost_page(board, costs))
    missing = missing_counts(board.features).to_dict("records")
    write(
        "method",
        arena_folder=shlex.quote(_arena_name(board)),
        missing=missing,
        facts=[*facts(board), shared["judged_by"]],
        skipped=skipped(board),
        limits=_limits(board, by_name),
    )
    if settings.submissions:
        asked = values["asked"]
        if asked is not None:
            write_rows(asked, folder / QUESTIONS)
        write("submit", view=submit_page(board, by_name, "" if asked is None else QUESTIONS))
    if values["history"]:
        write("history", view=history_view(values["history"], board.systems))
    shown: list[dict[str, Any]] = []
    for language in languages:
        view = pair_page(board, texts, names, languages, language, caution_of(board, language))
        write("pairs", f"pairs/{files[language]}.html", view=view)
        shown.extend(view["texts"]["questions"] if view["texts"] else [])
    examples = Examples(board, texts, shown) if isinstance(texts, Texts) else None
    _write_systems(write, board, SystemPages(board, by_name), first, faults, examples)


def _limits(board: Board, languages: Sequence[str]) -> dict[str, list[Remark]]:
    """Return what limits the numbers of each language that anything limits."""
    found = {}
    for language in languages:
        remarks = list(limits(board, language))
        if len(languages) > 1:
            remarks = [*cautions(board, language), *remarks]
        if remarks:
            found[language_name(language)] = remarks
    return found


def _cautions(board: Board) -> list[str]:
    """Say what limits the board: its judge, and what holds overall or in one of its languages."""
    sentences = [board.summary.macro.judge_fault] if board.summary.macro.judge_fault else []
    codes = ["", *board.languages] if len(board.languages) > 1 else [""]
    for code in codes:
        sentences += [in_its_language(remark) for remark in cautions(board, code)]
    return sentences


def _draw_picture(board: Board, title: str, settings: SiteSettings, folder: Path) -> bool:
    """Draw the picture of shared links, which need an address; return whether there is one."""
    if not settings.address:
        return False
    try:
        figure = draw_preview(title, headline(board), board.overall)
    except MissingDependencyError:
        return False
    save(figure, folder / PICTURE)
    return True


def _write_systems(
    write: Callable[..., None],
    board: Board,
    pages: SystemPages,
    language: str,
    faults: FaultTables | None,
    examples: Examples | None,
) -> None:
    """Write a page of each system; those that are compared on the page of a language say so."""
    names = slugs(board.systems)
    compared = set(board.table(language)["system"][:MOST_SYSTEMS])
    has_place = board.overall.set_index("system")[["rank", "place"]].notna().any(axis=1)
    remarks = standings(board)
    for system in board.systems:
        of_system = faults and faults.of_system(system)
        file = f"systems/{names[system]}.html"
        write(
            "system",
            file,
            view=pages.page(system),
            compared=compared,
            system_faults=of_system,
            standing=name_parts(remarks[system].sentence, [system]) if system in remarks else [],
            has_place=bool(has_place.get(system, False)),
            examples=examples and examples.of(system),
        )


def _write_page(
    folder: Path,
    shared: Mapping[str, Any],
    is_served: bool,
    page: str,
    file: str = "",
    **values: object,
) -> None:
    path = folder / (file or f"{page}.html")
    path.parent.mkdir(exist_ok=True)
    root = "../" if "/" in file else ""
    scripts = SCRIPTS.get(page, ("tables.js",))
    if is_served:
        scripts = (*scripts, "news.js")
    text = filled(page, scripts, is_served=is_served, root=root, **shared, **values)
    path.write_text(text, encoding="utf-8", newline="\n")


def _shared_values(
    board: Board, languages: Sequence[str], settings: SiteSettings
) -> dict[str, Any]:
    summary = board.summary
    return {
        "board": board,
        "summary": summary,
        "settings": settings,
        "title": settings.title or summary.arena,
        "splits": SPLIT_NAMES,
        "named": [(language_name(code), summary.languages[code]) for code in languages],
        "headline": conclusion(board),
        "judged_by": judged_by(board),
        "on_judge": on_judge(board),
        "signature": short_digest(summary.signature),
    }


def _arena_name(board: Board) -> str:
    if board.folder is None or board.summary.arena_folder is None:
        return board.summary.arena
    return (board.folder / board.summary.arena_folder).resolve().name
