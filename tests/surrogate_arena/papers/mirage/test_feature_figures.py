"""Figures 3, 5 and 9 of MIRAGE-Bench, drawn of a board."""

from dataclasses import replace

import numpy as np
import pytest
from matplotlib.text import Text

from surrogate_arena.papers.mirage.figures import (
    OTHER_FAMILY,
    feature_lollipops,
    importance_boxes,
)


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
    means = forest_board.importances.groupby("feature")[
        ["tournament_q1", "tournament_median", "tournament_q3"]
    ].mean()
    assert y_labels(axes) == list(means["tournament_median"].sort_values(kind="stable").index)
    for name, box in zip(y_labels(axes), axes.patches, strict=True):
        assert box.get_x() == pytest.approx(means.loc[name, "tournament_q1"])
        assert box.get_x() + box.get_width() == pytest.approx(means.loc[name, "tournament_q3"])
