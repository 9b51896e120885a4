"""The figures of the files that ``metaeval --out`` writes."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from arena.data.rows import read_rows
from surrogate.metaevaluation.evaluation import judge_labels, judges_of
from surrogate.metaevaluation.grouse.grouse import ScoreVerdict
from surrogate.metaevaluation.memerag.accuracy import (
    PERMUTATIONS,
    REPLICATES,
    error_shares,
    mark_best,
    score_judges,
    with_prompts,
)
from surrogate.metaevaluation.memerag.memerag import LabelVerdict
from surrogate.metaevaluation.records import read_run
from surrogate.publish.figures.figure import Drawing
from surrogate.publish.figures.judge_bars import error_heat_map, memerag_bars
from surrogate.publish.figures.score_grids import draw_confusions, draw_unit_tests
from surrogate.publish.formats import slugs

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure


def run_drawings(path: Path) -> Iterator[Drawing]:
    """List the figures of verdicts on MEMERAG or on GroUSE's tests.

    Raises:
        UsageError: If there is no such file.
        DataError: If it is no such file.
    """
    if "test_id" in read_rows(path).table:
        yield from _grouse_drawings(read_run(path, ScoreVerdict))
    else:
        yield from _memerag_drawings(read_run(path, LabelVerdict))


def _memerag_drawings(verdicts: pd.DataFrame) -> Iterator[Drawing]:
    """List bars by language, and what errors are (figures 2 and 5)."""
    yield Drawing("memerag", lambda: _bars(verdicts))
    if verdicts["fine"].notna().any():
        yield Drawing("memerag-errors", lambda: error_heat_map(error_shares(verdicts), _MEMERAG))


_MEMERAG = "dataset:memerag"


def _bars(verdicts: pd.DataFrame) -> Figure:
    """Score judges; where some have several prompts, the best with each prompt is marked."""
    scores = score_judges(verdicts)
    within = [] if with_prompts(scores).empty else ["prompt"]
    signature = f"{_MEMERAG}|replicates:{REPLICATES}|permutations:{PERMUTATIONS}|seed:0"
    return memerag_bars(mark_best(scores, verdicts, within=within), signature)


def _grouse_drawings(scores: pd.DataFrame) -> Iterator[Drawing]:
    """List tests one by one, and confusions with a reference (figures 3, 6, 13 to 15)."""
    names = judge_labels(scores)
    files = slugs(names.values())
    reference = scores[scores["is_reference"]]
    for key, part in judges_of(scores).items():
        name = names[key]
        if part["condition"].notna().any():
            figure = partial(draw_unit_tests, part, name, "dataset:grouse")
            yield Drawing(f"grouse-{files[name]}", figure)
        if len(reference) and not part["is_reference"].any():
            figure = partial(draw_confusions, part, reference, name, "dataset:grouse")
            yield Drawing(f"grouse-confusions-{files[name]}", figure)
