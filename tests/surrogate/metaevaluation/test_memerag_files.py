"""Files of runs, of ratings, and of what is known of judges."""

import json

import pandas as pd
import pytest
from memerag_samples import answered, labeled, lines_of, verdict_table

from arena import DataError, UsageError
from arena.statistics.agreement import agreement_report
from surrogate.board.judge.metaevaluations import (
    MetaEvaluation,
    add_metaevaluations,
    is_same_judge,
    read_metaevaluations,
)
from surrogate.metaevaluation.memerag.rating_files import read_ratings
from surrogate.metaevaluation.memerag.run_file import MEMERAG_RUN
from surrogate.metaevaluation.memerag.scores import memerag_metaevaluations, score_judges
from surrogate.metaevaluation.report import judges_of

YES, NO = "Supported", "Not Supported"
ROWS = [(YES, YES), (YES, NO), (NO, NO), (NO, None)]


def test_runs_come_back_as_they_were(tmp_path):
    verdicts = pd.concat(
        [verdict_table(ROWS), verdict_table(ROWS[:3], judge="k")], ignore_index=True
    )
    MEMERAG_RUN.write(verdicts, tmp_path / "run.json")
    first = (tmp_path / "run.json").read_bytes()
    found = MEMERAG_RUN.read(tmp_path / "run.json")
    assert list(judges_of(found)) == [("j", "p"), ("k", "p")]
    assert found["value"].tolist() == [YES, NO, NO, None, YES, NO, NO]
    columns = ["language", "balanced_accuracy", "standard_error", "failures"]
    assert score_judges(found)[columns].equals(score_judges(verdicts)[columns])
    MEMERAG_RUN.write(found, tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == first
    assert "CC BY-NC" in first.decode()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda content: content.pop("judges"),
            r"run\.json: judges = None: is missing; write it again with metaeval",
        ),
        (lambda content: content.update(judges=[]), r"judges = \[\]: is an empty list"),
        (
            lambda content: content.update(dataset="other"),
            r"dataset = 'other': Input should be 'memerag'",
        ),
        (lambda content: content["judges"][0].pop("value"), r"judges.0.value"),
        (lambda content: content["judges"][0]["value"].pop(), "different lengths"),
        (
            lambda content: content["judges"][0].update(value=["yes", None, None, None]),
            r"judges.0.value.0.* = 'yes': .*use Supported or Not Supported",
        ),
        (
            lambda content: content["judges"][0].update(fine_grained_factuality=["x"] * 4),
            "fine_grained_factuality.0 = .x.: is no label of this field",
        ),
    ],
)
def test_damaged_runs_are_refused(tmp_path, change, message):
    path = tmp_path / "run.json"
    MEMERAG_RUN.write(verdict_table(ROWS), path)
    content = json.loads(path.read_text())
    change(content)
    path.write_text(json.dumps(content))
    with pytest.raises(DataError, match=message):
        MEMERAG_RUN.read(path)


def test_runs_that_are_not_there_or_cannot_be_written(tmp_path):
    with pytest.raises(UsageError, match="there is no run at"):
        MEMERAG_RUN.read(tmp_path / "run.json")
    (tmp_path / "run.json").write_text("{")
    with pytest.raises(DataError, match=r"Invalid JSON.*write it again with metaeval memerag"):
        MEMERAG_RUN.read(tmp_path / "run.json")
    with pytest.raises(UsageError, match="there is no folder"):
        MEMERAG_RUN.write(verdict_table(ROWS), tmp_path / "nowhere" / "run.json")


def rated(**fields):
    return answered("q", labeled("a", YES) | fields)


def test_ratings_of_one_label_or_several(tmp_path):
    path = tmp_path / "en.jsonl"
    fine = ["Other", "Other mistake", None]
    relevance = ["Adds context to the answer", "Directly answers the question", None]
    rows = [
        rated(factuality=[YES, "not supported", None], relevance=relevance),
        rated(factuality=YES),
        rated(factuality=None, fine_grained_factuality=fine),
        rated(factuality=[YES, YES, "Challenging to determine"], fine_grained_factuality=fine),
    ]
    path.write_text(lines_of(*rows))
    ratings = read_ratings(path, "factuality")
    assert (ratings.items, ratings.raters, ratings.items_with_pairs) == (4, 3, 2)
    assert ratings.categories == ("Challenging to determine", NO, YES)
    fine_grained = read_ratings(path, "fine_grained_factuality")
    assert fine_grained.given.tolist() == [0, 0, 2, 3]
    coarse = read_ratings(path, "fine_grained_factuality", coarse=True)
    assert coarse.categories == ("Challenging to determine", NO, YES)
    assert read_ratings(path, "relevance").given.tolist() == [2, 1, 1, 1]
    coarse = read_ratings(path, "relevance", coarse=True)
    assert coarse.categories == ("Relevant", "Irrelevant")


def test_agreement_of_files_by_hand(tmp_path):
    path = tmp_path / "en.jsonl"
    path.write_text(lines_of(rated(factuality=[YES, YES]), rated(factuality=[NO, YES])))
    found = agreement_report(read_ratings(path, "factuality"))
    assert found.coefficients["percent_agreement"].value == 0.5
    chance = 2 * 0.75 * 0.25
    assert found.coefficients["ac1"].value == pytest.approx((0.5 - chance) / (1 - chance))


@pytest.mark.parametrize(
    ("record", "message"),
    [
        (
            rated(factuality=["", YES]),
            r"en\.jsonl:1: answer.0.factuality = \['', 'Supported'\]: is no label",
        ),
        (rated(factuality=[1.5]), r"answer.0.factuality = \[1.5\]: is no label"),
        ({"answer": None}, "answer = None: is missing"),
        ({"answer": "x"}, "answer = 'x': is not a list"),
        ({"answer": ["x"]}, "answer.0 = 'x': is not an object"),
        ({"answer": [{"sentence": "a"}]}, "answer.0.factuality = None: is missing"),
        ({"answer": []}, "holds no sentences"),
    ],
)
def test_damaged_ratings_are_refused(tmp_path, record, message):
    path = tmp_path / "en.jsonl"
    path.write_text(lines_of(record))
    with pytest.raises(DataError, match=message):
        read_ratings(path, "factuality")
    with pytest.raises(UsageError, match="unknown field 'comments'"):
        read_ratings(path, "comments")


def test_labels_of_ones_own_agree_too_but_have_no_coarse_label(tmp_path):
    path = tmp_path / "en.jsonl"
    path.write_text(lines_of(rated(factuality=["mostly", "mostly"]), rated(factuality=[3, YES])))
    assert read_ratings(path, "factuality").categories == ("3", YES, "mostly")
    with pytest.raises(DataError, match=r"factuality = .mostly.: has no coarse label"):
        read_ratings(path, "factuality", coarse=True)


def test_real_files_hold_one_label_a_sentence(memerag_folder):
    found = agreement_report(read_ratings(memerag_folder / "en.jsonl", "fine_grained_factuality"))
    assert (found.items, found.raters, found.items_with_pairs) == (400, 1, 0)
    assert len(found.categories) == 11
    assert {each.reason for each in found.coefficients.values()} == {"no item has two ratings"}


def test_what_is_known_of_judges_is_kept_in_an_arenas_folder(tmp_path):
    assert read_metaevaluations(tmp_path) == ()
    scores = score_judges(pd.concat([verdict_table(ROWS), verdict_table(ROWS, language="de")]))
    entry = memerag_metaevaluations(scores)[0]
    assert (entry.judge, entry.dataset, entry.prompt) == ("j", "memerag", "p")
    assert (entry.n, entry.failures, entry.languages) == (8, 2, ["en", "de"])
    add_metaevaluations(tmp_path, [entry])
    newer = entry.model_copy(update={"value": 0.717, "standard_error": 0.011})
    other = entry.model_copy(update={"judge": "a"})
    add_metaevaluations(tmp_path, [newer, other])
    assert read_metaevaluations(tmp_path) == (other, newer)
    assert str(newer) == "memerag:balanced_accuracy=71.7±1.1"


def test_metrics_and_judges_are_kept_apart(tmp_path):
    entry = MetaEvaluation(
        judge="llm:gpt-4o",
        dataset="memerag",
        metric="balanced_accuracy",
        prompt="ag.v1@0",
        value=0.662,
        standard_error=0.011,
        n=9,
        languages=["en"],
    )
    other = entry.model_copy(update={"dataset": "own", "metric": "kendall_tau", "value": -0.25})
    add_metaevaluations(tmp_path, [entry, other])
    assert [str(each) for each in read_metaevaluations(tmp_path)] == [
        "memerag:balanced_accuracy=66.2±1.1",
        "own:kendall_tau=-25.0±1.1",
    ]
    assert entry.is_of("gpt-4o")
    assert entry.is_of("llm:gpt-4o")
    assert not entry.is_of("gpt-4o-mini")
    assert is_same_judge("nli:x", "nli:x")
    assert not is_same_judge("nli:x", "x")


def test_judges_without_a_score_are_left_out():
    assert memerag_metaevaluations(score_judges(verdict_table([(YES, YES)]))) == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", r"metaevaluation\.json: "),
        ('{"metaevaluations": [{}]}', "metaevaluations.0.judge"),
        (
            json.dumps(
                {
                    "metaevaluations": [
                        MetaEvaluation(
                            judge="j",
                            dataset="d",
                            metric="accuracy",
                            value=1,
                            standard_error=0,
                            n=1,
                            languages=["en"],
                        ).model_dump()
                        | {"value": 71.7}
                    ]
                }
            ),
            "value = 71.7: Input should be less than or equal to 1",
        ),
    ],
)
def test_damaged_files_of_judges_are_refused(tmp_path, text, message):
    (tmp_path / "metaevaluation.json").write_text(text)
    with pytest.raises(DataError, match=message):
        read_metaevaluations(tmp_path)
    with pytest.raises(UsageError, match="there is no folder"):
        read_metaevaluations(tmp_path / "nowhere")
