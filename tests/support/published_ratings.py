"""Arenas whose ratings are published, without a judgment."""

from dataclasses import replace

import pandas as pd

from arena import rate


def as_published(arena):
    """Put the ratings of an arena's judgments in the place of them."""
    parts = []
    for language, rows in arena.judgments.groupby("language"):
        table = rate(rows, rounds=50).table
        error = (table["high"] - table["low"]) / (2 * 1.6448536269514722)
        parts.append(table.assign(judge="published", language=language, standard_error=error))
    columns = list(arena.published_ratings)
    ratings = pd.concat(parts, ignore_index=True)[columns]
    return replace(arena, judgments=arena.judgments.iloc[:0], published_ratings=ratings)
