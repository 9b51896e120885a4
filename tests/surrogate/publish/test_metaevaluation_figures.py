"""Figures of sampling studies, of MEMERAG and of unit tests."""

import json
import re

import pandas as pd
import pytest
from matplotlib.text import Text

from arena import DataError, UsageError
from arena.planning.study import study_sampling
from surrogate.metaevaluation.memerag.comparison import BEST, DAGGER
from surrogate.publish.figures.figure import save
from surrogate.publish.figures.judges import HATCH, grouse_matrix, memerag_bars
from surrogate.publish.figures.studies import read_sampling, sampling_curves


def axes_of(figure):
    return figure.findobj(lambda part: hasattr(part, "get_xticks"))


def whole_text(figure):
    texts = [text.get_text() for text in figure.findobj(Text)]
    return re.sub(r"\s+", " ", "\n".join(texts))


@pytest.fixture(scope="module")
def study(small_arena):
    return study_sampling(small_arena.judgments, (0.2, 1.0), ("questions", "pairs"), 3)


def test_sampling_curves_hold_the_means_a_panel_a_design(study):
    figure = sampling_curves(study.table, study.signature, "my_$arena")
    questions, pairs = axes_of(figure)
    assert questions.get_title(loc="left") == "Fewer questions, all their pairs"
    assert pairs.get_xlabel() == "Share of the arena's judgments (%)"
    assert questions.get_ylabel() == "Kendall tau with the whole arena"
    rows = study.table[(study.table["design"] == "questions") & (study.table["language"] == "en")]
    line = questions.get_lines()[0]
    assert list(line.get_xdata()) == [20, 100]
    assert list(line.get_ydata()) == list(rows["tau"])
    assert figure.texts[2].get_text() == study.signature
    assert "my_$arena" in whole_text(figure)
    assert "n = 2 languages" in whole_text(figure)


def test_many_languages_have_a_mean_instead_of_bands(study):
    codes = [f"{first}{second}" for first in "abc" for second in "xyzuvw"]
    table = pd.concat([study.table.assign(language=code) for code in codes])
    figure = sampling_curves(table, "s")
    looks = [
        (line.get_color(), line.get_linestyle(), line.get_marker())
        for line in axes_of(figure)[0].get_lines()
    ]
    assert len(looks) == len(set(looks)) == len(codes) + 1
    assert not axes_of(figure)[0].collections
    assert "the thick line is the mean over languages" in whole_text(figure)


def test_a_study_printed_as_json_is_read_back(study, tmp_path):
    path = tmp_path / "sampling.json"
    rows = study.table.to_dict(orient="records")
    path.write_text(json.dumps({"table": rows, "signature": study.signature}))
    table, signature = read_sampling(path)
    pd.testing.assert_frame_equal(table, study.table, check_dtype=False)
    assert signature == study.signature


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"table": 1, "signature": "s"}', "\xff"])
def test_other_files_are_no_study(tmp_path, content):
    path = tmp_path / "sampling.json"
    path.write_bytes(content.encode("latin-1"))
    with pytest.raises(DataError, match=r"sampling\.json: is no sampling study"):
        read_sampling(path)


def test_an_absent_study_says_how_to_make_one(tmp_path):
    with pytest.raises(UsageError, match="surrogate-arena sampling ARENA --json > FILE"):
        read_sampling(tmp_path / "absent.json")
    with pytest.raises(UsageError, match="lacks tau"):
        sampling_curves(pd.DataFrame(columns=["language", "design", "share", "judgments"]), "s")


@pytest.fixture
def scores():
    rows = [
        ("best $1$", "ag_cot", "en", 0.8, 0.02, 120, 1, 0, BEST, None),
        ("tied_<b>", "", "en", 0.78, 0.02, 120, 0, 2, DAGGER, None),
        ("worse", "", "en", 0.5, 0.03, 122, 0, 0, "", None),
        ("best $1$", "ag_cot", "hi", None, None, 10, 0, 0, "", "one label only"),
        ("tied_<b>", "", "hi", 0.6, 0.04, 10, 0, 0, BEST, None),
        ("worse", "", "hi", 0.5, 0.03, 10, 0, 0, "", None),
    ]
    return pd.DataFrame(
        rows,
        columns=[
            *("judge", "prompt", "language", "balanced_accuracy", "standard_error"),
            *("sentences", "failures", "not_asked", "mark", "reason"),
        ],
    )


def test_bars_are_percent_with_errors_and_hatched_where_tied(scores, tmp_path):
    figure = memerag_bars(scores, "dataset:memerag|seed:0")
    english, hindi = axes_of(figure)
    labels = [label.get_text() for label in english.get_yticklabels()]
    assert labels == ["best $1$, ag_cot", "tied_<b>", "worse"]
    assert [bar.get_width() for bar in english.patches] == pytest.approx([80, 78, 50])
    assert [bar.get_hatch() for bar in english.patches] == [None, HATCH, None]
    best, tied = english.patches[0], english.patches[1]
    assert best.get_facecolor() != tied.get_facecolor()
    (errors,) = english.collections
    assert errors.get_segments()[0][:, 0] == pytest.approx([78, 82])
    assert english.get_title(loc="left") == "en\nn = 120 to 122"
    assert [text.get_text() for text in hindi.texts] == ["–", "60.0", "50.0"]
    text = whole_text(figure)
    assert "Without a label, counted as errors: 1; not asked, left out: 2" in text
    assert "not different from the best (p > 0.05)" in text
    save(figure, tmp_path / "a.svg")


def test_scores_without_marks_are_refused(scores):
    with pytest.raises(UsageError, match="the scores lack mark; take them from"):
        memerag_bars(scores.drop(columns="mark"), "s")
    with pytest.raises(UsageError, match="the scores lack rows"):
        memerag_bars(scores[:0], "s")


@pytest.fixture
def unit_tests():
    rows = [
        ("complete $answer$", "relevancy", 9, 9),
        ("complete $answer$", "faithfulness_", 4, 8),
        ("nothing <found>", "relevancy", 0, 9),
    ]
    return pd.DataFrame(rows, columns=["test_type", "metric", "passed", "tests"])


def test_unit_tests_are_rates_with_counts(unit_tests):
    figure = grouse_matrix(unit_tests, "gpt_4$", "dataset:grouse")
    (axes,) = axes_of(figure)
    assert [label.get_text() for label in axes.get_yticklabels()] == ["relevancy", "faithfulness_"]
    columns = [label.get_text() for label in axes.get_xticklabels()]
    assert columns == ["complete $answer$", "nothing <found>", "all types"]
    texts = [text.get_text() for text in axes.texts]
    assert texts == ["9/9", "0/9", "9/18", "4/8", "–", "4/8"]
    shades = axes.collections[0].get_array()
    assert shades.compressed().tolist() == [1, 0, 0.5, 0.5, 0.5]
    assert "n = 26 tests, 50.0% passed; 2 metrics, 2 test types" in whole_text(figure)
    assert figure.texts[0].get_text() == "Unit tests passed: gpt_4$"


@pytest.mark.parametrize(
    ("passed", "tests"), [(3, 2), (-1, 2), (0, 0), (float("nan"), 2), (1, float("nan"))]
)
def test_impossible_counts_are_refused(unit_tests, passed, tests):
    unit_tests = unit_tests.astype({"passed": float, "tests": float})
    unit_tests.loc[1, ["passed", "tests"]] = passed, tests
    with pytest.raises(DataError, match=r"unit tests:2: passed = .*: is impossible"):
        grouse_matrix(unit_tests, "judge", "s")


def test_repeated_types_and_lacking_columns_are_refused(unit_tests):
    twice = pd.concat([unit_tests, unit_tests[:1]])
    with pytest.raises(DataError, match="stands twice for 'relevancy'"):
        grouse_matrix(twice, "judge", "s")
    with pytest.raises(UsageError, match="lacks metric"):
        grouse_matrix(unit_tests.drop(columns="metric"), "judge", "s")
