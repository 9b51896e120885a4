"""Writing a board as a static site."""

from __future__ import annotations

from pathlib import Path

from arena import __version__
from surrogate.report.board_tables import BoardTables, read_board_tables
from surrogate.report.heatmap import heatmap
from surrogate.report.judge_page import NO_REPORT, judge_page, judged_sentence
from surrogate.report.method_page import method_page, skipped_in_all
from surrogate.report.overview import overview
from surrogate.report.rendering import Pages
from surrogate.report.site_folder import check_replaceable, replaced_site
from surrogate.report.slugs import slugs
from surrogate.report.system_page import SystemPages

INDEX = "index.html"


def write_site(board_folder: Path | str, out: Path | str) -> Path:
    """Write a board folder as HTML pages that need neither a server nor the network.

    The same board gives the same bytes. Tables that older boards lack are missed in a sentence
    where they would be shown.

    Args:
        board_folder: What ``surrogate-arena board`` wrote.
        out: Folder to write to, created if absent; a site that is there is replaced whole, and
            stays as it was if anything fails.

    Returns:
        The path of ``index.html``.

    Raises:
        UsageError: If there is no board, or ``out`` holds anything but a site.
        DataError: If a file of the board is damaged.
    """
    out = Path(out)
    check_replaceable(out)
    tables = read_board_tables(board_folder)
    summary = tables.summary
    pages = Pages(summary.arena, summary.judge, summary.fingerprint, __version__)
    with replaced_site(out) as folder:
        _write_pages(tables, pages, folder)
    return out / INDEX


def _write_pages(tables: BoardTables, pages: Pages, folder: Path) -> None:
    names = slugs(tables.systems)
    judged = judged_sentence(tables)
    method = method_page(tables)
    filled = {
        "index": pages.fill(
            "index",
            view=overview(tables, names),
            slugs=names,
            judged=judged,
            macro=tables.summary.macro,
            notes=sum(map(len, method.notes.values())),
        ),
        "heatmap": pages.fill("heatmap", view=heatmap(tables), slugs=names),
        "judge": pages.fill("judge", view=judge_page(tables), no_report=NO_REPORT),
        "method": pages.fill("method", view=method, judged=judged, skipped=skipped_in_all(method)),
    }
    for name, text in filled.items():
        _write(folder / f"{name}.html", text)
    (folder / "systems").mkdir()
    systems = SystemPages(tables)
    for system in tables.systems:
        text = pages.fill("system", "../", view=systems.page(system), slugs=names)
        _write(folder / "systems" / f"{names[system]}.html", text)


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", newline="\n")
