"""Figures of sampling studies, of MEMERAG and of unit tests."""

import json
import re

import pandas as pd
import pytest
from grouse_samples import TYPES, RightJudge
from matplotlib.text import Text
from memerag_samples import verdict_table

from arena import DataError, UsageError
from surrogate_arena.papers.evaluation import evaluate_judges
from surrogate_arena.papers.grouse.benchmark import Grouse
from surrogate_arena.papers.grouse.figures import draw_confusions, draw_unit_tests
from surrogate_arena.papers.grouse.metrics import METRICS, AnswerSample
from surrogate_arena.papers.grouse.unit_tests import UnitTest, builtin_tests
from surrogate_arena.papers.judges import FunctionJudge
from surrogate_arena.papers.memerag.accuracy import BEST, DAGGER
from surrogate_arena.papers.memerag.figures import memerag_bars
from surrogate_arena.papers.records import write_run
from surrogate_arena.papers.settings import MetaevalSettings
from surrogate_arena.papers.verdict import Verdict
from surrogate_arena.studies.drawing import HATCH
from surrogate_arena.studies.sampling import study_sampling
from surrogate_arena.studies.study_table import StudyTable, read_study


def axes_of(figure):
    return figure.axes


def as_printed(study):
    return {**vars(study), "table": study.table.to_dict(orient="records"), "differences": []}


def whole_text(figure):
    texts = [text.get_text() for text in figure.findobj(Text)]
    return re.sub(r"\s+", " ", "\n".join(texts))


@pytest.fixture(scope="module")
def study(small_arena):
    return study_sampling(small_arena.judgments, (0.2, 1.0), ("questions", "pairs"), 3)


def test_sampling_curves_hold_the_means_a_panel_a_design(study):
    figure = study.draw()
    questions, pairs = axes_of(figure)
    assert questions.get_title() == "Fewer questions, against all judgments (theirs included)"
    assert pairs.get_xlabel() == "Share of the arena's judgments (%)"
    assert questions.get_ylabel() == "Kendall tau"
    rows = study.table[(study.table["design"] == "questions") & (study.table["language"] == "en")]
    line = questions.get_lines()[0]
    assert list(line.get_xdata()) == [20, 100]
    assert list(line.get_ydata()) == list(rows["tau"])
    assert study.signature in figure.get_label()


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"table": 1, "signature": "s"}', "\xff"])
def test_what_is_printed_as_json_is_read_back_and_other_files_are_refused(study, tmp_path, content):
    path = tmp_path / "sampling.json"
    path.write_text(json.dumps(as_printed(study)))
    again = read_study(path)
    pd.testing.assert_frame_equal(again.table, study.table, check_dtype=False)
    assert (again.signature, again.notes) == (study.signature, study.notes)
    path.write_bytes(content.encode("latin-1"))
    with pytest.raises(DataError, match=r"sampling\.json"):
        read_study(path)
    with pytest.raises(UsageError, match="no study with a tau"):
        StudyTable(study.table.drop(columns="tau")).draw()


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
            *("judge", "prompt", "language", "value", "standard_error"),
            *("n", "failures", "not_asked", "mark", "reason"),
        ],
    )


def test_bars_are_percent_with_errors_and_hatched_where_tied(scores, tmp_path):
    figure = memerag_bars(scores)
    english, hindi = axes_of(figure)
    labels = [label.get_text() for label in english.get_yticklabels()]
    assert labels == ["best $1$", "tied_<b>", "worse"]
    assert [bar.get_width() for bar in english.patches] == pytest.approx([80, 78, 50])
    assert [bar.get_hatch() for bar in english.patches] == [None, HATCH, None]
    best, tied = english.patches[0], english.patches[1]
    assert best.get_facecolor() != tied.get_facecolor()
    assert english.collections[0].get_segments()[0][:, 0] == pytest.approx([78, 82])
    assert [text.get_text() for text in hindi.texts] == ["–", "60.0", "50.0"]
    figure.savefig(tmp_path / "a.svg")


RIGHT = {"answer_relevancy": 5, "completeness": 5, "usefulness": None, "faithfulness": 1}


@pytest.fixture
def unit_tests():
    """Two sets of a right answer and a refusal; one judge is right but for one broken reply."""
    tests = [
        UnitTest(f"t{place}{name}", name, AnswerSample(f"Why {place}?", ("R.",), "E [1].", name),
                 TYPES[name].conditions, "en", f"${place}$")
        for place in range(2)
        for name in ("highest_marks_1", "highest_marks_2")
    ]  # fmt: skip

    class Broken(RightJudge):
        name = "broken_$1$"

        def judge(self, tasks):
            said = super().judge(tasks)
            is_first = [task.sample.question == "Why 0?" for task in tasks]
            broken = Verdict(None, "unparsable")
            faithful = [task.metric == "faithfulness" for task in tasks]
            return [
                broken if first and last else each
                for each, first, last in zip(said, is_first, faithful, strict=True)
            ]

    best = FunctionJudge("best", lambda metric, *_: RIGHT[metric])
    return evaluate_judges(
        Grouse(tests, settings=MetaevalSettings(reference="best")), [Broken(), best]
    ).verdicts


def of(scores, judge):
    return scores[scores["judge"] == judge]


def test_every_test_has_a_cell_and_broken_replies_are_apart(unit_tests, tmp_path):
    figure = draw_unit_tests(of(unit_tests, "broken_$1$"), "broken_$1$")
    axes = axes_of(figure)
    assert [place.get_title() for place in axes] == list(METRICS)
    assert [label.get_text() for label in axes[0].get_yticklabels()] == ["en $0$", "en $1$"]
    faithful = axes[3].images[0].get_array().tolist()
    assert faithful == [[0.5, 1.0], [1.0, 1.0]]
    hatched = [sum(patch.get_hatch() is not None for patch in place.patches) for place in axes]
    assert hatched == [0, 0, 4, 2, 0, 0]  # usefulness of all, faithfulness of refusals
    text = whole_text(figure)
    assert "n = 24 checks of 4 tests, 95.8% passed" in text
    best = axes_of(draw_unit_tests(of(unit_tests, "best"), "best"))
    assert best[1].images[0].get_array().tolist() == [[1, 0], [1, 0]]
    figure.savefig(tmp_path / "a.svg")
    with pytest.raises(UsageError, match="nobody has no tests"):
        draw_unit_tests(unit_tests[:0], "nobody")


def test_confusions_are_counts_by_reference_and_judge(unit_tests):
    best, broken = of(unit_tests, "best"), of(unit_tests, "broken_$1$")
    figure = draw_confusions(broken, best, "broken_$1$")
    axes = {place.get_title(): place for place in axes_of(figure)}
    assert set(axes) == set(METRICS)
    # Metrics of other scales in the same row once took away these rows.
    rows = [label.get_text() for label in axes["answer_relevancy"].get_yticklabels()]
    assert rows == ["1", "2", "3", "4", "5", "null"]
    texts = [text.get_text() for text in axes["answer_relevancy"].texts]
    assert texts[4 * 6 :] == ["", "", "", "", "2", "2", *[""] * 6]  # 5 said: 5 twice, null twice
    assert [text.get_text() for text in axes["faithfulness"].texts][3:6] == ["", "1", "2"]
    with pytest.raises(UsageError, match="the reference none has no score"):
        draw_confusions(broken, best[:0], "broken")


@pytest.fixture
def verdicts():
    labels = ["Supported", "Not Supported"]
    tables = [
        verdict_table(
            [(labels[n % 2], labels[(n + (n % every == 0)) % 2]) for n in range(40)], judge
        )
        for judge, every in (("good", 9), ("poor", 2))
    ]
    return pd.concat(tables, ignore_index=True)


def test_the_command_draws_studies_and_runs_of_judges(tiny_arena, tmp_path, run, verdicts):
    study = study_sampling(tiny_arena.judgments, (0.5, 1.0), ("questions",), 2)
    (tmp_path / "sampling.json").write_text(json.dumps(as_printed(study)))
    fine = {"Supported": "Other", "Not Supported": "Contradiction"}
    labeled = verdicts.assign(fine=verdicts["truth"].map(fine))
    write_run(labeled, tmp_path / "memerag.jsonl")
    null = FunctionJudge("null/1", lambda *_: None)
    unit_tests = Grouse(builtin_tests(["en"])[:2], settings=MetaevalSettings(reference="ones"))
    write_run(
        evaluate_judges(unit_tests, [null, FunctionJudge("ones", lambda *_: 1)]).verdicts,
        tmp_path / "grouse.jsonl",
    )
    out = tmp_path / "plots"
    for path in sorted(tmp_path.glob("*.json*")):
        assert run("publish", path, "--as", "figures", "--out", out, "--format", "svg") == 0
    assert sorted(path.stem for path in out.iterdir()) == [
        *("grouse-1", "grouse-2", "grouse-confusions-1"),
        *("memerag", "memerag-errors", "sampling"),
    ]
