"""Write the sites of synthetic boards; print seconds, page sizes and the time of a sort.

The sort is measured in chromium where playwright is installed. Nothing is asserted.

Run:  python benchmarks/report.py
"""

from __future__ import annotations

import shutil
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd

from arena.data.languages import MIRACL_LANGUAGES
from surrogate import Board
from surrogate.board.details import difference_table
from surrogate.board.judge_report import JudgeReport
from surrogate.board.rows import covariance_of
from surrogate.board.settings import BoardRecord
from surrogate.board.summary import BoardSummary
from surrogate.board.tables import IMPORTANCES
from surrogate.publish.site.site import write_site

SIZES = ((19, 18), (300, 20))
TARGETS = {(19, 18): 10, (300, 20): 60}
QUESTIONS = 50
FEATURES = 14
SORT = """() => {
  const button = document.querySelectorAll("#overall-table thead button")[2];
  const start = performance.now();
  button.click();
  document.body.getBoundingClientRect();
  return performance.now() - start;
}"""


def synthetic_board(systems: int, languages: int) -> Board:
    """Return a board of random ratings, with every pair judged in every language."""
    random = np.random.default_rng(0)
    names = [f"system-{place}" for place in range(systems)]
    codes = [*MIRACL_LANGUAGES, "it", "pt"][:languages]
    board = _cells(codes, names)
    rating = random.normal(size=len(board))
    board["rating"], board["arena_rating"] = rating, rating + random.normal(size=len(board)) / 5
    ranked = board.groupby("language")[["rating", "arena_rating"]].rank(ascending=False)
    board["rank"], board["arena_rank"] = ranked["rating"], ranked["arena_rating"]
    for name, source in (("", "rating"), ("arena_", "arena_rating")):
        board[f"{name}low"], board[f"{name}high"] = board[source] - 0.5, board[source] + 0.5
    bounds = {"tier": 1, "rank_low": 1, "rank_high": systems}
    ratings = board.assign(
        **{"coverage": 1.0, "answers": QUESTIONS, "split": "train", "note": ""},
        **{f"surrogate_{name}": board[name] for name in ("rating", "low", "high")},
        **bounds,
        verdict_share=0.9,
    )
    keys = ["language", "system"]
    pairs = _cells(codes, names).merge(_cells(codes, names, "opponent"), on="language")
    importances = _cells(codes, [f"feature_{place}" for place in range(FEATURES)], "feature")
    return Board(
        ratings=ratings,
        overall=_overall(ratings),
        arena=ratings[[*keys, *bounds, "rank", "rating", "low", "high", "note"]],
        importances=importances.reindex(columns=list(IMPORTANCES.names)).fillna(1 / FEATURES),
        win_matrix=pairs[pairs["system"] != pairs["opponent"]].assign(wins=5, losses=4, ties=1),
        differences=_differences(ratings),
        features=_features(codes, names, random),
        judge_report=_judge_report(codes, systems),
        summary=_summary(codes, systems),
        surrogate_or_file=Path("none"),
    )


def _cells(codes: list[str], names: list[str], column: str = "system") -> pd.DataFrame:
    return pd.DataFrame({"language": codes}).merge(pd.DataFrame({column: names}), how="cross")


def _differences(ratings: pd.DataFrame) -> pd.DataFrame:
    ordered = ratings.sort_values("rating", ascending=False)
    return difference_table(
        (own, covariance_of(own.set_index("system"))) for _, own in ordered.groupby("language")
    )


def _overall(board: pd.DataFrame) -> pd.DataFrame:
    columns = {"rank": "mean_rank", "rating": "mean_rating", "arena_rank": "arena_mean_rank"}
    table = board.groupby("system")[list(columns)].mean().rename(columns=columns).reset_index()
    table["rank"] = table["mean_rank"].rank(method="min")
    table["arena_rank"] = table["arena_mean_rank"].rank(method="min")
    table["languages"], table["coverage"] = board["language"].nunique(), 1.0
    return table.sort_values("rank")


def _features(codes: list[str], names: list[str], random: np.random.Generator) -> pd.DataFrame:
    questions = pd.DataFrame({"query_id": [f"q{place}" for place in range(QUESTIONS)]})
    table = _cells(codes, names).merge(questions, how="cross")
    values = random.random((len(table), FEATURES))
    columns = [f"feature_{place}" for place in range(FEATURES)]
    return pd.concat([table, pd.DataFrame(values, columns=columns)], axis=1)


def _summary(codes: list[str], systems: int) -> BoardSummary:
    counts = {"systems": systems, "systems_judged": systems, "questions": QUESTIONS}
    language = {**counts, "questions_judged": QUESTIONS, "judgments": 1, "skipped": {}, "tau": 0.9}
    macro = dict.fromkeys(
        ["tau", "tau_low", "tau_high", "tau_unseen", "holdout_r2_mean", "holdout_r2_median"], 0.9
    )
    return BoardSummary.model_validate(
        {
            "arena": "synthetic",
            "fingerprint": "0",
            "settings": BoardRecord(judge="none"),
            "macro": macro,
            "languages": dict.fromkeys(codes, language),
        }
    )


def _judge_report(codes: list[str], systems: int) -> JudgeReport:
    return JudgeReport(
        judge="none",
        judgments=1,
        systems=systems,
        languages=tuple(codes),
    )


def sort_milliseconds(index: Path) -> float | None:
    """Return how long a sort of the overview takes; None without a browser."""
    chromium = shutil.which("chromium")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        return None
    if chromium is None:
        return None
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page()
        page.goto(index.resolve().as_uri())
        times = [float(page.evaluate(SORT)) for _ in range(5)]
        browser.close()
    return max(times)


def main() -> None:
    for systems, languages in SIZES:
        with tempfile.TemporaryDirectory() as folder:
            board = synthetic_board(systems, languages)
            start = time.perf_counter()
            index = write_site(board, Path(folder) / "site")
            seconds = time.perf_counter() - start
            largest = max(index.parent.rglob("*.html"), key=lambda path: path.stat().st_size)
            sort = sort_milliseconds(index)
            shown = "no browser" if sort is None else f"{sort:.0f} ms (target: 100)"
            print(
                f"{systems} systems x {languages} languages: {seconds:.1f} s "
                f"(target: {TARGETS[systems, languages]}); largest page {largest.name} "
                f"{largest.stat().st_size / 1000:.0f} kB (target: 2500); slowest of 5 sorts {shown}"
            )


if __name__ == "__main__":
    main()
