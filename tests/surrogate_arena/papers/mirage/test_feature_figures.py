"""Figures 3, 5 and 9 of MIRAGE-Bench, drawn of a board."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from matplotlib.text import Text

from surrogate_arena.papers.mirage.figures import (
    OTHER_FAMILY,
    feature_lollipops,
    importance_boxes,
)
from surrogate_arena.papers.mirage.tournament_fits import share_quantiles, tournament_fits


def x_labels(axes):
    return [label.get_text() for label in axes.get_xticklabels()]


def y_labels(axes):
    return [label.get_text() for label in axes.get_yticklabels()]


@pytest.mark.slow
def test_lollipops_hold_the_means_by_family(small_board):
    systems = sorted(small_board.features["system"].unique())
    names = dict(zip(systems, ["gpt-4o", "llama-3-8b", "qwen-2"], strict=False))
    features = small_board.features.replace({"system": names})
    overall = small_board.overall.replace({"system": names})
    features = features.assign(english=0.5)
    figure = feature_lollipops(replace(small_board, features=features, overall=overall))
    texts = [text.get_text() for text in figure.findobj(Text)]
    assert "english" not in texts
    means = features.groupby(["language", "system"])["bleu"].mean()
    (axes,) = [axes for axes in figure.axes if axes.get_title().startswith("bleu")]
    assert x_labels(axes) == ["en", "sw"]
    drawn = np.concatenate([line.get_ydata() for line in axes.get_lines()])
    assert sorted(drawn) == pytest.approx(sorted(means))
    (legend,) = figure.findobj(lambda part: type(part).__name__ == "Legend")
    labels = [text.get_text() for text in legend.get_texts()]
    assert labels == ["Qwen", "OpenAI", "Meta", OTHER_FAMILY]


def test_importances_are_the_means_of_quartiles_over_languages(forest_board):
    figure = importance_boxes(forest_board)
    (axes,) = figure.axes
    shares = []
    for fits in tournament_fits(forest_board).values():
        rows = np.array([fit.shares for fit in fits])
        np.testing.assert_allclose(rows.sum(axis=1), 1.0)
        shares.append(np.percentile(rows, [25, 50, 75], axis=0))
    features = forest_board.surrogate.features_
    means = pd.DataFrame(np.mean(shares, axis=0).T, features, ["q1", "median", "q3"])
    assert y_labels(axes) == list(means["median"].sort_values(kind="stable").index)
    for name, box in zip(y_labels(axes), axes.patches, strict=True):
        assert box.get_x() == pytest.approx(means.loc[name, "q1"])
        assert box.get_x() + box.get_width() == pytest.approx(means.loc[name, "q3"])


def test_a_surrogate_of_all_languages_has_the_boards_shares_alone(small_board):
    shares = share_quantiles(small_board)
    assert shares.isna().all(axis=None)
    assert sorted(shares.index) == sorted(
        small_board.importances.dropna(subset="importance")["feature"].unique()
    )
