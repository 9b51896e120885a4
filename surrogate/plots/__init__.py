"""Figures of boards and of meta-evaluations; they need the extra ``plots`` (matplotlib).

Each function returns a ``matplotlib.figure.Figure``; nothing of pyplot is touched.
"""

from surrogate.plots.feature_lollipops import feature_lollipops
from surrogate.plots.figure import Caption, save
from surrogate.plots.fonts import FONT_FAMILIES, MissingGlyphWarning
from surrogate.plots.grouse_matrix import grouse_matrix
from surrogate.plots.importance_boxes import importance_boxes
from surrogate.plots.importance_intervals import importance_intervals, read_importances
from surrogate.plots.memerag_bars import memerag_bars
from surrogate.plots.rank_heat_map import RankPanel, draw_ranks, rank_heat_map
from surrogate.plots.rating_intervals import rating_intervals
from surrogate.plots.sampling_curves import read_sampling, sampling_curves
from surrogate.plots.tau_scatter import tau_scatter
from surrogate.plots.win_matrix import win_matrix

__all__ = [
    "FONT_FAMILIES",
    "Caption",
    "MissingGlyphWarning",
    "RankPanel",
    "draw_ranks",
    "feature_lollipops",
    "grouse_matrix",
    "importance_boxes",
    "importance_intervals",
    "memerag_bars",
    "rank_heat_map",
    "rating_intervals",
    "read_importances",
    "read_sampling",
    "sampling_curves",
    "save",
    "tau_scatter",
    "win_matrix",
]
