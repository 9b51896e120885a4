"""What the figures of a board show."""

import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from matplotlib.text import Text

from arena import UsageError
from surrogate.publish.figures.figure import Caption, shown_names
from surrogate.publish.figures.importances import (
    MARKERS,
    OTHER,
    families_of,
    feature_lollipops,
    importance_boxes,
)
from surrogate.publish.figures.matrices import RankPanel, draw_ranks, rank_heat_map, win_matrix
from surrogate.publish.figures.ratings import rating_intervals, tau_scatter

ALL_KINDS = {
    "heatmap": rank_heat_map,
    "lollipops": feature_lollipops,
    "importances": importance_boxes,
    "ratings": lambda tables: rating_intervals(tables, "en"),
    "wins": win_matrix,
    "scatter": tau_scatter,
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


@pytest.mark.parametrize("kind", ALL_KINDS)
def test_every_figure_says_its_title_counts_and_signature(tables, kind):
    figure = ALL_KINDS[kind](tables)
    title, note, signature = (text.get_text().replace("\n", "") for text in figure.texts)
    assert tables.summary.arena in title
    assert figure.get_label() == title
    assert "n = " in note
    assert signature == tables.summary.signature


@pytest.mark.parametrize("kind", sorted(set(ALL_KINDS) - {"lollipops", "importances", "scatter"}))
def test_hostile_names_are_drawn_verbatim(hostile, kind):
    texts = written(ALL_KINDS[kind](hostile))
    shown = shown_names(hostile.systems)
    assert set(shown.values()) <= set(texts)
    assert "$x_1^2$ & <b>bold</b>" in texts
    assert "$arena_1$ <script>" in "".join(texts)


@pytest.mark.parametrize("kind", ALL_KINDS)
def test_no_text_is_read_as_mathematics(hostile, kind):
    figure = ALL_KINDS[kind](hostile)
    ours = [text for text in figure.findobj(Text) if "$" in text.get_text()]
    assert ours
    assert not any(text.get_parse_math() for text in ours)


def test_the_heat_map_holds_the_ranks_of_arena_and_surrogate(tables):
    figure = rank_heat_map(tables)
    arena, surrogate = figure.findobj(lambda part: hasattr(part, "get_xticks"))
    assert [arena.get_xlabel(), surrogate.get_xlabel()] == ["Arena", "Surrogate"]
    assert y_labels(arena) == list(tables.systems)
    assert x_labels(arena) == ["en", "sw", "mean"]
    board = tables.board.set_index(["system", "language"])
    for axes, column in ((arena, "arena_rank"), (surrogate, "rank")):
        ranks = [[float(cell) for cell in row] for row in cells(axes, 3)]
        for system, (en, sw, mean) in zip(tables.systems, ranks, strict=True):
            assert [en, sw] == [board.loc[(system, name), column] for name in ("en", "sw")]
            assert mean == (en + sw) / 2


def test_unranked_systems_are_dashes_without_color():
    ranks = pd.DataFrame({"en": [1.0, 2.0], "fi": [1.0, np.nan]}, index=["a", "b"])
    figure = draw_ranks([RankPanel("Arena", ranks)], Caption("t", "n = 2", "s"))
    (axes,) = figure.findobj(lambda part: hasattr(part, "get_xticks"))
    assert cells(axes, 3) == [["1", "1", "1.0"], ["2", "–", "–"]]
    shades = axes.collections[0].get_array().reshape(2, 3)
    assert shades.mask.tolist() == [[False, False, False], [False, True, True]]


def test_nothing_ranked_gives_no_heat_map(tables):
    empty = tables.board.assign(rank=np.nan, arena_rank=np.nan)
    with pytest.raises(UsageError, match="no system is ranked"):
        rank_heat_map(replace(tables, board=empty))


def test_the_win_matrix_holds_shares_of_points_best_first(tables):
    figure = win_matrix(tables, "en")
    (axes,) = figure.findobj(lambda part: hasattr(part, "get_xticks"))
    names = y_labels(axes)
    ranks = tables.board[tables.board["language"] == "en"].set_index("system")["arena_rank"]
    assert names == x_labels(axes) == list(ranks.sort_values(kind="stable").index)
    table = cells(axes, len(names))
    wins = tables.win_matrix[tables.win_matrix["language"] == "en"]
    row = wins.set_index(["system", "opponent"]).loc[(names[0], names[1])]
    points = row["wins"] + row["ties"] / 2
    share = 100 * points / (row["wins"] + row["losses"] + row["ties"])
    assert float(table[0][1]) == pytest.approx(share, abs=0.5001)
    assert float(table[0][1]) + float(table[1][0]) == pytest.approx(100, abs=1.001)
    assert [table[at][at] for at in range(len(names))] == [""] * len(names)


def test_pairs_that_never_met_are_dashes(tables):
    met = tables.win_matrix[tables.win_matrix["language"] == "en"]
    first, second = sorted(met["system"].unique())[:2]
    pair = met["system"].isin([first, second]) & met["opponent"].isin([first, second])
    figure = win_matrix(replace(tables, win_matrix=met[~pair]), "en")
    (axes,) = figure.findobj(lambda part: hasattr(part, "get_xticks"))
    names = y_labels(axes)
    assert cells(axes, len(names))[names.index(first)][names.index(second)] == "–"


def test_the_win_matrix_of_all_languages_counts_each_battle_once(tables):
    judgments = sum(item.judgments for item in tables.summary.languages.values())
    assert f"{judgments:,} battles" in whole_text(win_matrix(tables))


def test_lollipops_hold_the_means_by_family(tables):
    systems = sorted(tables.features["system"].unique())
    names = dict(zip(systems, ["gpt-4o", "llama-3-8b", "qwen-2"], strict=False))
    features = tables.features.replace({"system": names})
    figure = feature_lollipops(replace(tables, features=features))
    means = features.groupby(["language", "system"])["bleu"].mean()
    (axes,) = [
        axes
        for axes in figure.findobj(lambda part: hasattr(part, "get_xticks"))
        if axes.get_title(loc="left").startswith("bleu")
    ]
    assert x_labels(axes) == ["en", "sw"]
    drawn = np.concatenate([line.get_ydata() for line in axes.get_lines()])
    assert sorted(drawn) == pytest.approx(sorted(means))
    (legend,) = figure.findobj(lambda part: type(part).__name__ == "Legend")
    labels = [text.get_text() for text in legend.get_texts()]
    assert labels == ["Meta", "OpenAI", "Qwen", OTHER]


def test_families_differ_in_color_or_shape():
    names = ["gpt-4", "claude-3", "gemini", "llama-2", "qwen", "mixtral", "command-r", "deepseek"]
    both = [*names, "phi-3", "grok-1", "glm-4", "yi-34b", "deepseek-distill-llama", "mine"]
    families = families_of(both)
    assert families["deepseek-distill-llama"].name == "DeepSeek + Meta"
    assert families["mine"].name == OTHER
    looks = {(family.color, family.marker) for family in families.values()}
    assert len(looks) == len(both)
    assert len(set(MARKERS)) == len(MARKERS)


def test_importances_are_the_means_of_quartiles_over_languages(tables):
    figure = importance_boxes(tables)
    (axes,) = figure.findobj(lambda part: hasattr(part, "get_xticks"))
    means = tables.importances.groupby("feature")[
        ["tournament_q1", "tournament_median", "tournament_q3"]
    ].mean()
    assert y_labels(axes) == list(means["tournament_median"].sort_values(kind="stable").index)
    for name, box in zip(y_labels(axes), axes.patches, strict=True):
        assert box.get_x() == pytest.approx(means.loc[name, "tournament_q1"])
        assert box.get_x() + box.get_width() == pytest.approx(means.loc[name, "tournament_q3"])
    assert "mean over 2 languages" in axes.get_xlabel()


def test_older_boards_without_quartiles_show_whiskers_alone(tables):
    older = tables.importances.drop(columns=["tournament_q1", "tournament_median", "tournament_q3"])
    figure = importance_boxes(replace(tables, importances=older), "en")
    (axes,) = figure.findobj(lambda part: hasattr(part, "get_xticks"))
    assert not axes.patches
    assert "95% of tournaments" in written(figure)
    assert "quartiles" not in written(figure)


def test_boards_that_hold_nothing_out_show_the_final_shares(tables):
    spread = [name for name in tables.importances if name.startswith("tournament_")]
    bare = tables.importances.assign(**dict.fromkeys(spread, np.nan))
    texts = written(importance_boxes(replace(tables, importances=bare)))
    assert "95% of tournaments" not in texts
    assert "surrogate of the board (all tournaments)" in texts


def test_ratings_come_best_first_with_tiers_and_ranks(tables):
    figure = rating_intervals(tables, "en")
    (axes,) = figure.findobj(lambda part: hasattr(part, "get_xticks"))
    board = tables.board[tables.board["language"] == "en"].set_index("system")
    order = list(board["arena_rank"].sort_values(kind="stable").index)
    assert y_labels(axes) == order
    arena, surrogate = (line for line in axes.get_lines() if len(line.get_xdata()) == len(order))
    assert list(arena.get_xdata()) == list(board.loc[order, "arena_rating"])
    assert list(surrogate.get_xdata()) == list(board.loc[order, "rating"])
    assert "log-odds" in axes.get_xlabel()
    tiers = tables.tiers[tables.tiers["language"] == "en"].set_index("system")
    best = tiers.loc[order[0]]
    assert f"{int(best['rank_low'])}–{int(best['rank_high'])}" in written(figure)
    assert "tiers of systems that are not distinguishable" in whole_text(figure)


def test_boards_without_tiers_say_so(tables):
    figure = rating_intervals(replace(tables, tiers=None), "en")
    assert "This board holds no tiers" in whole_text(figure)
    assert "ranks" not in written(figure)


def test_ratings_without_intervals_say_so(tables):
    bare = tables.board.assign(low=np.nan, high=np.nan)
    text = whole_text(rating_intervals(replace(tables, board=bare), "en"))
    assert "The surrogate's ratings have no intervals here" in text


def test_the_scatter_shows_each_split_and_tau(tables):
    figure = tau_scatter(tables, "en")
    (axes,) = figure.findobj(lambda part: hasattr(part, "get_xticks"))
    board = tables.board[tables.board["language"] == "en"]
    found = tables.summary.languages["en"]
    assert f"n = {len(board)}: tau {found.tau:.2f}" in axes.get_title(loc="left")
    assert set(board["system"]) <= set(written(figure))
    points = {tuple(xy) for line in axes.get_lines() for xy in line.get_xydata()}
    assert set(zip(board["arena_rating"], board["rating"], strict=True)) <= points


def test_systems_without_both_ratings_are_counted(tables):
    board = tables.board.copy()
    board.loc[board.index[:2], "arena_rating"] = np.nan
    assert "Not drawn: 2 rows" in whole_text(tau_scatter(replace(tables, board=board)))


@pytest.mark.parametrize(
    ("field", "draw", "file"),
    [
        ("features", feature_lollipops, "features.parquet"),
        ("importances", importance_boxes, "importances.csv"),
        ("win_matrix", win_matrix, "win_matrix.csv"),
    ],
)
def test_what_is_missing_is_named_with_what_to_run(tables, field, draw, file):
    with pytest.raises(UsageError, match=f"{file}; build the board anew with  surrogate-arena"):
        draw(replace(tables, **{field: None}))


@pytest.mark.parametrize("draw", [importance_boxes, rating_intervals, tau_scatter, win_matrix])
def test_unknown_languages_are_refused(tables, draw):
    with pytest.raises(UsageError, match="no language 'fi' here; there is en, sw"):
        draw(tables, "fi")


def field_of(tables, systems, languages):
    """Return a board of so many systems, the first best everywhere."""
    count = len(systems)
    rating = -np.arange(count, dtype=float)
    rank = np.arange(1.0, count + 1)
    common = {"system": systems, "rank": rank, "arena_rank": rank}
    board = pd.concat(
        [
            pd.DataFrame(common).assign(
                language=language,
                rating=rating,
                low=rating - 1,
                high=rating + 1,
                arena_rating=rating,
                arena_low=rating - 1,
                arena_high=rating + 1,
                split="train",
            )
            for language in languages
        ]
    )
    return replace(tables, board=board, overall=pd.DataFrame(common), tiers=None, win_matrix=None)


def test_one_system_in_one_language(tables):
    alone = field_of(tables, ["only"], ["en"])
    for figure in (rank_heat_map(alone), rating_intervals(alone, "en"), tau_scatter(alone)):
        assert "n = 1 system" in whole_text(figure)
        figure.draw_without_rendering()


def test_three_hundred_systems_each_have_their_row(tables):
    systems = [f"system-{number:03}" for number in range(300)]
    many = field_of(tables, systems, ["en"])
    figure = rating_intervals(many, "en")
    (axes,) = figure.findobj(lambda part: hasattr(part, "get_xticks"))
    assert y_labels(axes) == systems
    inches = figure.get_size_inches()[1] / 300
    assert inches > 0.2  # so that labels of 8 points do not touch
    assert len(tau_scatter(many, "en").texts) == 3
