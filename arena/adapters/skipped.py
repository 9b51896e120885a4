"""What an adapter left out, and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import astuple, dataclass, fields

import pandas as pd


@dataclass(frozen=True, order=True)
class Skip:
    """One thing left out.

    Attributes:
        source: File or data set it was in.
        item: What it is: ``judgment``, ``battle``, ``answer``, ``passage`` or ``column``.
        reason: Why it was left out.
    """

    source: str
    item: str
    reason: str


def skipped_table(skips: Iterable[Skip]) -> pd.DataFrame:
    """Count what was left out.

    Returns:
        Columns ``source, item, reason, count``, sorted; no row if nothing was left out.
    """
    counts = sorted(Counter(skips).items())
    columns = [field.name for field in fields(Skip)]
    rows = [(*astuple(skip), count) for skip, count in counts]
    table = pd.DataFrame(rows, columns=[*columns, "count"])
    return table.astype({**dict.fromkeys(columns, "str"), "count": int})
