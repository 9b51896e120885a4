"""Balanced accuracy, its errors, tests between judges, and accuracy by fine-grained label."""

import math

import numpy as np
import pandas as pd
import pytest
from memerag_samples import verdict_table
from sklearn.metrics import balanced_accuracy_score

from arena import UsageError
from surrogate.metaevaluation.evaluation import evaluate_judges
from surrogate.metaevaluation.judges import FunctionJudge
from surrogate.metaevaluation.memerag.accuracy import (
    BEST,
    DAGGER,
    compare_judges,
    mark_best,
    permutation_p_value,
    score_judges,
)
from surrogate.metaevaluation.memerag.memerag import Memerag
from surrogate.metaevaluation.settings import MetaevalSettings

YES, NO = "Supported", "Not Supported"
HITS = [(YES, YES)] * 3 + [(YES, NO)] + [(NO, NO)] * 1 + [(NO, YES)] * 1


def drawn(seed, items=200, accuracy=0.7):
    random = np.random.default_rng(seed)
    human = np.where(random.random(items) < 0.7, YES, NO)
    wrong = np.where(human == YES, NO, YES)
    said = np.where(random.random(items) < accuracy, human, wrong)
    return list(zip(human.tolist(), said.tolist(), strict=True))


def macro(scores):
    return scores[scores["language"] == "macro"].iloc[0]


def test_balanced_accuracy_is_that_of_scikit_learn():
    pairs = drawn(1)
    found = score_judges(verdict_table(pairs)).loc[0, "value"]
    assert found == pytest.approx(balanced_accuracy_score(*zip(*pairs, strict=True)))


def test_a_judge_without_a_label_is_wrong_but_one_not_asked_is_left_out():
    table = verdict_table([*HITS, (YES, None), (NO, None)])
    found = score_judges(table).iloc[0]
    assert found["value"] == pytest.approx((3 / 5 + 1 / 3) / 2)
    assert (found["failures"], found["not_asked"], found["n"]) == (2, 0, 8)
    unasked = score_judges(table.assign(was_asked=table["value"].notna())).iloc[0]
    assert unasked["value"] == pytest.approx((3 / 4 + 1 / 2) / 2)
    assert (unasked["failures"], unasked["not_asked"], unasked["n"]) == (0, 2, 6)


def test_without_one_of_the_labels_there_is_no_value_but_a_reason():
    lone = verdict_table([(YES, YES)], language="hi")
    found = score_judges(pd.concat([verdict_table(HITS), lone]))
    hindi = found[found["language"] == "hi"].iloc[0]
    assert math.isnan(hindi["value"])
    assert hindi["reason"] == "no sentence of hi that was judged is labeled Not Supported"
    assert math.isnan(macro(found)["value"])
    assert macro(found)["reason"] == hindi["reason"]
    found = score_judges(lone.assign(was_asked=False))
    assert found["value"].isna().all()


def test_standard_errors_are_those_of_two_binomials():
    pairs = drawn(2, items=600)
    human = np.array([first for first, _ in pairs])
    right = np.array([first == second for first, second in pairs])
    recalls = [right[human == label].mean() for label in (YES, NO)]
    sizes = [(human == label).sum() for label in (YES, NO)]
    spread = math.sqrt(sum(r * (1 - r) / n for r, n in zip(recalls, sizes, strict=True))) / 2
    found = score_judges(verdict_table(pairs), replicates=4000).loc[0, "standard_error"]
    assert found == pytest.approx(spread, rel=0.06)


def test_judges_are_compared_on_the_sentences_of_both():
    a = verdict_table(HITS, judge="a")
    b = verdict_table([(human, human) for human, _ in HITS], judge="b")
    b.loc[0, "was_asked"] = False
    found = compare_judges(a, b)
    row = found.iloc[0]
    assert row["value_a"] == pytest.approx((2 / 3 + 1 / 2) / 2)
    assert row["difference"] == pytest.approx(row["value_a"] - 1)
    assert (row["sentences"], row["disagreements"]) == (5, 2)


def test_p_values_are_those_of_all_swaps():
    amounts = np.array([0.3, 0.2, 0.2, -0.1, 0.05, 0.0])
    signs = np.array(np.meshgrid(*[[-1, 1]] * 5)).reshape(5, -1).T
    exact = (np.abs(signs @ amounts[:5]) >= amounts.sum() - 1e-9).mean()
    found = permutation_p_value(amounts, 40_000, 0, "x")
    assert found == pytest.approx(exact, abs=0.01)
    assert permutation_p_value(np.zeros(4), 100, 0, "x") == 1


def test_the_best_is_marked_and_those_as_good():
    pairs = drawn(6, items=400, accuracy=0.8)
    nearly = [(human, NO if n == 3 else said) for n, (human, said) in enumerate(pairs)]
    poor = [(human, YES) for human, _ in pairs]
    verdicts = pd.concat(
        [
            verdict_table(rows, judge=name)
            for name, rows in zip("abc", (pairs, nearly, poor), strict=True)
        ]
    )
    marked = mark_best(score_judges(verdicts), verdicts, 500).set_index(["judge", "language"])
    for language in ("en", "macro"):
        marks = [marked.loc[(name, language), "mark"] for name in "abc"]
        assert sorted(marks) == sorted([BEST, DAGGER, ""])
        assert marks[2] == ""
        assert marked.loc[("c", language), "p_value"] < 0.05


def judged(sentences, *judges, **options):
    settings = MetaevalSettings(**options)
    return evaluate_judges(Memerag(sentences, settings), judges).verdicts


def test_functions_judge_and_bad_ones_are_refused(small_sentences):
    def knows_paris(question, passages, answer, sentence):
        assert (question, len(passages)) == ("Where?", 2)
        assert sentence in answer
        return None if sentence == "Ja." else YES if "Paris" in sentence else "not supported"

    verdicts = judged(
        small_sentences, FunctionJudge("paris", knows_paris), FunctionJudge("no", lambda *_: NO)
    )
    assert len(verdicts) == 10
    mine = verdicts[verdicts["judge"] == "paris"]
    assert list(mine["value"]) == [YES, NO, None, YES, NO]
    assert list(mine["failure"]) == [None, None, "no_label", None, None]
    assert "Challenging to determine" not in set(verdicts["truth"])
    with pytest.raises(UsageError, match="the judge j returned 'Maybe'; return Supported"):
        judged(small_sentences, FunctionJudge("j", lambda *_: "Maybe"))
    with pytest.raises(UsageError, match="the judge j returned True"):
        judged(small_sentences, FunctionJudge("j", lambda *_: True))
