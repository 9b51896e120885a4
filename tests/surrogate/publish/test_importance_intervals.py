"""The figure of what ``validate --protocol importances`` found."""

import json

import numpy as np
import pandas as pd
import pytest

from arena import UsageError
from arena.data.errors import DataError
from surrogate.publish.figures.figure import save
from surrogate.publish.figures.importances import MEASURES, importance_intervals, read_importances

HOSTILE = ["$x_1^2$ <b>", "line\nbreak", "\\frac{1}{2}", "نموذج"]
SIGNATURE = "protocol:importances|seed:0"


def table_of(measures, languages=("en", "sw")):
    random = np.random.default_rng(0)
    rows = [(code, name) for code in languages for name in HOSTILE]
    table = pd.DataFrame(rows, columns=["language", "feature"])
    for measure in measures:
        middle = random.random(len(table))
        table[measure], table[f"{measure}_low"] = middle, middle - 0.1
        table[f"{measure}_high"] = middle + 0.2
    return table


def written(table, path):
    rows = table.astype(object).where(table.notna(), None).to_dict(orient="records")
    path.write_text(json.dumps({"table": rows, "signature": SIGNATURE}))
    return path


@pytest.mark.parametrize(
    "measures", [["permutation", "share"], ["shap", "share"], ["permutation", "shap", "share"]]
)
def test_each_measure_has_a_panel(measures):
    table = table_of(measures)
    figure = importance_intervals(table, SIGNATURE, "an arena")
    assert [axes.get_xlabel() for axes in figure.axes] == [MEASURES[name] for name in measures]
    title, note, signature = (text.get_text() for text in figure.texts)
    assert title == "What the surrogate rests on: an arena, all languages"
    assert note == "n = 4 features, 2 languages."
    assert signature == SIGNATURE
    means = table.groupby("feature")[measures].mean().sort_values(measures[0])
    for axes, measure in zip(figure.axes, measures, strict=True):
        drawn = next(line for line in axes.lines if line.get_marker() == "D")
        np.testing.assert_allclose(drawn.get_xdata(), means[measure])


def test_a_measure_or_feature_without_values_is_left_out():
    table = table_of(["shap", "share"], languages=("en",))
    table["share"] = np.nan
    table.loc[0, ["shap", "shap_low", "shap_high"]] = np.nan
    figure = importance_intervals(table, SIGNATURE, language="en")
    assert len(figure.axes) == 1
    assert "n = 3 features, 1 language. Not drawn" in figure.texts[1].get_text()


def test_a_feature_with_some_importances_is_drawn_and_the_gap_is_explained():
    table = table_of(["permutation", "shap"], languages=("en",))
    table.loc[0, ["shap", "shap_low", "shap_high"]] = np.nan
    note = importance_intervals(table, SIGNATURE).texts[1].get_text().replace("\n", " ")
    assert note.startswith("n = 4 features, 1 language. Where there is no mark")


def test_what_was_written_is_read_and_drawn_the_same(tmp_path):
    table = table_of(["shap", "share"])
    table["share"] = np.nan
    read, signature = read_importances(written(table, tmp_path / "found.json"))
    pd.testing.assert_frame_equal(read, table)
    paths = [tmp_path / "one.svg", tmp_path / "two.svg"]
    for path in paths:
        save(importance_intervals(read, signature), path)
    assert paths[0].read_bytes() == paths[1].read_bytes()


@pytest.mark.parametrize(
    "content", ["[]", "{", '{"table": []}', '{"table": [{"shap": 1}], "signature": ""}', "null"]
)
def test_files_of_another_kind_are_refused(content, tmp_path):
    path = tmp_path / "other.json"
    path.write_text(content)
    with pytest.raises(DataError, match=r"other\.json: is no study of importances"):
        read_importances(path)


def test_what_cannot_be_drawn_is_said(tmp_path):
    with pytest.raises(UsageError, match="there is no study of importances at"):
        read_importances(tmp_path / "absent.json")
    table = table_of(["shap"])
    with pytest.raises(UsageError, match="there are no importances in 'xx' to draw"):
        importance_intervals(table, SIGNATURE, language="xx")
    with pytest.raises(UsageError, match="lacks shap_low; make it with"):
        importance_intervals(table.drop(columns="shap_low"), SIGNATURE)
