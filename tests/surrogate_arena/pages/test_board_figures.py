"""What the figures of a board show."""

import re
from dataclasses import replace

import numpy as np
import pytest
from matplotlib.text import Text

from arena.data.wording import short_digest
from surrogate_arena.pages.figures.board_figures import draw_ratings, rank_heat_map
from surrogate_arena.pages.figures.figure import shown_names

ALL_KINDS = {
    "heatmap": rank_heat_map,
    "ratings": lambda board: draw_ratings(board, "en"),
}


def written(figure):
    return [text.get_text() for text in figure.findobj(Text) if text.get_text()]


def whole_text(figure):
    return re.sub(r"\s+", " ", "\n".join(written(figure)))


def y_labels(axes):
    return [label.get_text() for label in axes.get_yticklabels()]


def x_labels(axes):
    return [label.get_text() for label in axes.get_xticklabels()]


def cells(axes, columns):
    texts = [text.get_text() for text in axes.texts]
    return [texts[start : start + columns] for start in range(0, len(texts), columns)]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ALL_KINDS)
def test_every_figure_says_its_title_counts_and_signature(board, kind):
    figure = ALL_KINDS[kind](board)
    title, caption = (" ".join(text.get_text().split()) for text in figure.texts)
    assert board.summary.arena in title
    assert "n = " in caption
    assert caption.endswith(f"Signature {short_digest(board.summary.signature)}")


@pytest.mark.parametrize("kind", ALL_KINDS)
def test_hostile_names_are_drawn_verbatim(drawn_hostile, kind):
    texts = written(ALL_KINDS[kind](drawn_hostile))
    shown = shown_names(drawn_hostile.systems)
    assert set(shown.values()) <= set(texts)
    assert "$x_1^2$ & <b>bold</b>" in texts
    assert "$arena_1$ <script>" in "".join(texts)
    ours = [text for text in ALL_KINDS[kind](drawn_hostile).findobj(Text) if "$" in text.get_text()]
    assert not any(text.get_parse_math() for text in ours)


def test_the_heat_map_holds_the_ranks_of_the_board_and_by_verdicts_alone(board):
    figure = rank_heat_map(board)
    both, verdicts = figure.findobj(lambda part: hasattr(part, "get_xticks"))
    assert [both.get_xlabel(), verdicts.get_xlabel()] == [
        *("Verdicts and surrogate", "Verdicts alone")
    ]
    assert y_labels(both) == list(board.systems)
    assert x_labels(both) == ["en", "sw", "mean"]
    rows = board.ratings.set_index(["system", "language"])
    for axes, column in ((verdicts, "arena_rank"), (both, "rank")):
        ranks = [[float(cell) for cell in row] for row in cells(axes, 3)]
        for system, (en, sw, mean) in zip(board.systems, ranks, strict=True):
            assert [en, sw] == [rows.loc[(system, name), column] for name in ("en", "sw")]
            assert mean == (en + sw) / 2


def test_ratings_come_best_first_each_with_what_it_is_by(board):
    figure = draw_ratings(board, "en")
    (axes,) = figure.findobj(lambda part: hasattr(part, "get_xticks"))
    rows = board.ratings[board.ratings["language"] == "en"].set_index("system")
    order = list(rows["rank"].sort_values(kind="stable").index)
    assert y_labels(axes) == order
    drawn = [line for line in axes.get_lines() if len(line.get_xdata()) == len(order)]
    for line, column in zip(drawn, ("rating", "surrogate_rating", "arena_rating"), strict=True):
        assert list(line.get_xdata()) == list(rows.loc[order, column])
    bars = [bar.get_segments() for bar in axes.collections[:3]]
    for segments, (low, high) in zip(
        bars,
        (("low", "high"), ("surrogate_low", "surrogate_high"), ("arena_low", "arena_high")),
        strict=True,
    ):
        assert segments[0][:, 0].tolist() == rows.loc[order[0], [low, high]].tolist()
    text = whole_text(figure)
    for name in ("verdicts and surrogate", "surrogate alone", "verdicts alone", "logits"):
        assert name in text
    best = rows.loc[order[0]]
    assert f"{int(best['rank_low'])}–{int(best['rank_high'])}" in written(figure)
    assert "tiers of systems that do not differ from the best one" in text


@pytest.mark.slow
def test_a_rating_without_an_upper_bound_is_drawn(board):
    endless = board.ratings.assign(surrogate_high=np.inf, high=np.inf)
    figure = draw_ratings(replace(board, ratings=endless), "en")
    figure.draw_without_rendering()
    (axes,) = figure.findobj(lambda part: hasattr(part, "get_xticks"))
    assert np.isfinite(axes.get_xlim()).all()
