"""Figures of the files that ``validate --json`` and ``metaeval --out`` write."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from arena.data.errors import UsageError
from arena.data.tables import read_rows
from surrogate_arena.papers.grouse.benchmark import ScoreVerdict
from surrogate_arena.papers.grouse.figures import draw_confusions, draw_unit_tests
from surrogate_arena.papers.memerag.accuracy import error_shares, marked_scores
from surrogate_arena.papers.memerag.benchmark import LabelVerdict
from surrogate_arena.papers.memerag.figures import error_heat_map, memerag_bars
from surrogate_arena.papers.records import JSONL_SUFFIXES, read_run
from surrogate_arena.papers.reports import judge_labels, judges_of
from surrogate_arena.studies.study_table import read_study

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

Drawing = tuple[str, Callable[[], "Figure"]]
"""Name of a figure's file without suffix, and what draws it."""


def study_drawings(path: Path) -> Iterator[Drawing]:
    """List the figures of a study, or of the verdicts of ``metaeval --out``."""
    if not path.name.endswith(JSONL_SUFFIXES):
        yield path.stem, read_study(path).draw
        return
    columns = read_rows(path).table.columns
    if "test_id" in columns:  # only GroUSE's verdicts name a test
        yield from _grouse_drawings(read_run(path, ScoreVerdict))
    elif "fine" in columns:  # only MEMERAG's have fine-grained labels
        verdicts = read_run(path, LabelVerdict)
        yield "memerag", lambda: memerag_bars(marked_scores(verdicts))
        yield "memerag-errors", lambda: error_heat_map(error_shares(verdicts))
    else:
        raise UsageError(f"{path.name} holds verdicts that have tables but no figure")


def _grouse_drawings(scores: pd.DataFrame) -> Iterator[Drawing]:
    names = judge_labels(scores)
    reference = scores[scores["is_reference"]]
    for number, (key, part) in enumerate(judges_of(scores).items(), start=1):
        if part["condition"].notna().any():
            yield f"grouse-{number}", partial(draw_unit_tests, part, names[key])
        if len(reference) and not part["is_reference"].any():
            draw = partial(draw_confusions, part, reference, names[key])
            yield f"grouse-confusions-{number}", draw
