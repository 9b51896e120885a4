"""Figures of the files that ``validate --json`` and ``metaeval --out`` write."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from arena.data.errors import UsageError
from arena.data.tables import read_rows
from surrogate_arena.pages.figures.figure import Drawing
from surrogate_arena.papers.grouse.figures import grouse_drawings
from surrogate_arena.papers.memerag.figures import memerag_drawings
from surrogate_arena.papers.mirage.figures import MAKE, read_sampling, sampling_curves
from surrogate_arena.papers.records import JSONL_SUFFIXES


def study_drawings(path: Path) -> Iterator[Drawing]:
    """List the figures of a file of ``validate --json`` or ``metaeval --out``.

    Raises:
        UsageError: If it is another kind of file, or a study without a figure.
        DataError: If it is damaged.
    """
    if not path.name.endswith(JSONL_SUFFIXES):
        table, signature = read_sampling(path)
        protocol = re.match(r"protocol:([^|]+)", signature)
        if protocol is not None:
            raise UsageError(
                f"a study of {protocol[1]} has a table but no figure; figures are drawn of  {MAKE}"
            )
        yield Drawing("sampling", partial(sampling_curves, table, signature))
        return
    columns = read_rows(path).table.columns
    if "test_id" in columns:  # only GroUSE's verdicts name a test
        yield from grouse_drawings(path)
    elif "system_a" in columns:
        raise UsageError(f"{path.name} holds verdicts on pairs, which have tables but no figure")
    else:
        yield from memerag_drawings(path)
