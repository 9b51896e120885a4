"""Balanced accuracy, its errors, tests between judges, and accuracy by fine-grained label."""

import math

import numpy as np
import pandas as pd
import pytest
from memerag_samples import verdict_table
from sklearn.metrics import balanced_accuracy_score

from arena import UsageError
from surrogate.metaevaluation.judges import FunctionJudge
from surrogate.metaevaluation.memerag.comparison import (
    BEST,
    DAGGER,
    compare_judges,
    mark_best,
    permutation_p_value,
)
from surrogate.metaevaluation.memerag.evaluation import Memerag
from surrogate.metaevaluation.memerag.run_file import MEMERAG_RUN
from surrogate.metaevaluation.memerag.scores import fine_grained_accuracy, score_judges
from surrogate.metaevaluation.runner import evaluate_judges

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


def test_balanced_accuracy_by_hand():
    found = score_judges(verdict_table(HITS))
    assert found.loc[0, "balanced_accuracy"] == pytest.approx((3 / 4 + 1 / 2) / 2)
    assert macro(found)["balanced_accuracy"] == found.loc[0, "balanced_accuracy"]
    assert (found.loc[0, "sentences"], found.loc[0, "supported"]) == (6, 4)


def test_languages_and_labels_weigh_the_same():
    many = verdict_table([(YES, YES)] * 90 + [(NO, NO)] * 10)
    few = verdict_table([(YES, NO), (NO, YES)], language="de")
    assert macro(score_judges(pd.concat([many, few])))["balanced_accuracy"] == 0.5


def test_balanced_accuracy_is_that_of_scikit_learn():
    pairs = drawn(1)
    found = score_judges(verdict_table(pairs)).loc[0, "balanced_accuracy"]
    assert found == pytest.approx(balanced_accuracy_score(*zip(*pairs, strict=True)))


def test_a_judge_without_a_label_is_wrong_but_one_not_asked_is_left_out():
    table = verdict_table([*HITS, (YES, None), (NO, None)])
    found = score_judges(table).iloc[0]
    assert found["balanced_accuracy"] == pytest.approx((3 / 5 + 1 / 3) / 2)
    assert (found["failures"], found["not_asked"], found["sentences"]) == (2, 0, 8)
    unasked = score_judges(table.assign(was_asked=table["value"].notna())).iloc[0]
    assert unasked["balanced_accuracy"] == pytest.approx((3 / 4 + 1 / 2) / 2)
    assert (unasked["failures"], unasked["not_asked"], unasked["sentences"]) == (0, 2, 6)


def test_without_one_of_the_labels_there_is_no_value_but_a_reason():
    lone = verdict_table([(YES, YES)], language="hi")
    found = score_judges(pd.concat([verdict_table(HITS), lone]))
    hindi = found[found["language"] == "hi"].iloc[0]
    assert math.isnan(hindi["balanced_accuracy"])
    assert hindi["reason"] == "no sentence of hi that was judged is labeled Not Supported"
    assert math.isnan(macro(found)["balanced_accuracy"])
    assert macro(found)["reason"] == hindi["reason"]
    found = score_judges(lone.assign(was_asked=False))
    assert found["balanced_accuracy"].isna().all()


def test_standard_errors_are_those_of_two_binomials_and_of_a_loop():
    pairs = drawn(2, items=600)
    human = np.array([first for first, _ in pairs])
    right = np.array([first == second for first, second in pairs])
    recalls = [right[human == label].mean() for label in (YES, NO)]
    sizes = [(human == label).sum() for label in (YES, NO)]
    spread = math.sqrt(sum(r * (1 - r) / n for r, n in zip(recalls, sizes, strict=True))) / 2
    found = score_judges(verdict_table(pairs), replicates=4000).loc[0, "standard_error"]
    assert found == pytest.approx(spread, rel=0.06)
    random = np.random.default_rng(0)
    loop = []
    for _ in range(600):
        drawn_again = random.integers(0, len(pairs), len(pairs))
        loop.append(
            np.mean([right[drawn_again][human[drawn_again] == x].mean() for x in (YES, NO)])
        )
    assert found == pytest.approx(np.std(loop), rel=0.12)


def test_questions_can_be_drawn_with_all_their_sentences():
    table = verdict_table(drawn(3, items=300))
    alone = score_judges(table).loc[0, "standard_error"]
    by_question = score_judges(table, unit="question").loc[0, "standard_error"]
    assert by_question == pytest.approx(alone, rel=0.1)
    doubled = pd.concat([table, table.assign(sentence_id=1)], ignore_index=True)
    clustered = score_judges(doubled, unit="question").loc[0, "standard_error"]
    assert clustered == pytest.approx(by_question)
    assert score_judges(doubled).loc[0, "standard_error"] < 0.85 * clustered


def test_scores_follow_the_seed_alone():
    table = verdict_table(drawn(4))
    assert score_judges(table, seed=1).equals(score_judges(table, seed=1))
    assert not score_judges(table, seed=1).equals(score_judges(table, seed=2))
    with pytest.raises(UsageError, match="unit is sentence or question"):
        score_judges(table, unit="answer")


def test_judges_are_compared_on_the_sentences_of_both():
    a = verdict_table(HITS, judge="a")
    b = verdict_table([(human, human) for human, _ in HITS], judge="b")
    b.loc[0, "was_asked"] = False
    found = compare_judges(a, b)
    row = found.table.iloc[0]
    assert (found.judge_a, found.judge_b) == (("a", "p"), ("b", "p"))
    assert found.left_out == 1
    assert row["balanced_accuracy_a"] == pytest.approx((2 / 3 + 1 / 2) / 2)
    assert row["difference"] == pytest.approx(row["balanced_accuracy_a"] - 1)
    assert (row["sentences"], row["disagreements"]) == (5, 2)


def test_p_values_are_those_of_all_swaps():
    amounts = np.array([0.3, 0.2, 0.2, -0.1, 0.05, 0.0])
    signs = np.array(np.meshgrid(*[[-1, 1]] * 5)).reshape(5, -1).T
    exact = (np.abs(signs @ amounts[:5]) >= amounts.sum() - 1e-9).mean()
    found = permutation_p_value(amounts, 40_000, 0, "x")
    assert found == pytest.approx(exact, abs=0.01)
    assert permutation_p_value(np.zeros(4), 100, 0, "x") == 1


def test_equal_judges_do_not_differ_and_plainly_better_ones_do():
    same, other = drawn(5), drawn(5, accuracy=0.7)
    table = compare_judges(verdict_table(same), verdict_table(other, prompt="q")).table
    assert set(table["p_value"]) == {1.0}
    perfect = [(human, human) for human, _ in same]
    table = compare_judges(verdict_table(same), verdict_table(perfect, judge="k"), 999).table
    assert set(table["p_value"]) == {1 / 1000}


@pytest.mark.slow
def test_p_values_are_uniform_where_nothing_differs():
    found = []
    for seed in range(60):
        random = np.random.default_rng(seed)
        human = np.where(random.random(80) < 0.7, YES, NO).tolist()
        said = [np.where(random.random(80) < 0.6, YES, NO).tolist() for _ in "ab"]
        a, b = (verdict_table(list(zip(human, each, strict=True))) for each in said)
        found.append(compare_judges(a, b, 300, seed).table["p_value"].iloc[-1])
    assert 0.35 < np.mean(found) < 0.65
    assert np.mean(np.array(found) < 0.1) < 0.25


def test_swaps_of_whole_questions():
    a = verdict_table(HITS, judge="a")
    b = verdict_table([(human, human) for human, _ in HITS], judge="b")
    one = [table.assign(query_id="q", sentence_id=range(len(HITS))) for table in (a, b)]
    assert compare_judges(*one, unit="question").table["p_value"].iloc[0] == 1
    assert compare_judges(*one).table["p_value"].iloc[0] < 1


def test_unusable_comparisons_are_refused():
    a, b = verdict_table(HITS, judge="a"), verdict_table(HITS, judge="b")
    with pytest.raises(UsageError, match="holds 2 judges"):
        compare_judges(pd.concat([a, b]), b)
    with pytest.raises(UsageError, match="no sentence in common"):
        compare_judges(a, b.assign(language="hi"))
    with pytest.raises(UsageError, match="different human labels for sentence 0 of q0"):
        compare_judges(a, b.assign(factuality=[NO, *b["factuality"][1:]]))
    lone = [table[table["factuality"] == YES] for table in (a, b)]
    assert compare_judges(*lone).table["reason"].notna().all()


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


TABLE_13 = {  # label: sentences, accuracy of GPT-4o mini and of Llama 3.2 90B in percent
    "Logical conclusion": (YES, 151, 80.1, 87.4),
    "Direct paraphrase": (YES, 182, 93.4, 97.3),
    "Other": (YES, 2, 50.0, 50.0),
    "Adds new information": (NO, 81, 67.9, 33.3),
    "Nuance shift": (NO, 30, 26.7, 16.7),
    "Mis-referencing": (NO, 20, 35.0, 20.0),
    "Contradiction": (NO, 32, 65.6, 50.0),
    "Opinion as fact": (NO, 12, 66.7, 25.0),
    "Other mistake": (NO, 19, 84.2, 52.6),
    "Wrong reasoning": (NO, 10, 80.0, 40.0),
}
SUMMARY_13 = {0: (87.2, 60.3, 73.7), 1: (92.5, 33.8, 63.2)}
SHARES_13 = {0: (69.8, 32.1, 27.2), 1: (76.0, 40.0, 18.5)}


@pytest.mark.parametrize("model", [0, 1])
def test_table_13_of_the_paper(model):
    """Verdicts with as many errors as the table says give its sums and the shares of its text."""
    rows, fine = [], []
    for label, (human, size, *accuracies) in TABLE_13.items():
        right = round(size * accuracies[model] / 100)
        other = NO if human == YES else YES
        rows += [(human, human)] * right + [(human, other)] * (size - right)
        fine += [label] * size
    verdicts = verdict_table(rows, language="fr").assign(fine_grained_factuality=fine)
    found = fine_grained_accuracy(verdicts).set_index("fine_grained_factuality")
    for label, (_, size, *accuracies) in TABLE_13.items():
        assert found.loc[label, "sentences"] == size
        assert f"{100 * found.loc[label, 'accuracy']:.1f}" == f"{accuracies[model]:.1f}"
    supported, unsupported, balanced = SUMMARY_13[model]
    for human, accuracy in ((YES, supported), (NO, unsupported)):
        part = found[found["factuality"] == human]
        share = 100 - 100 * part["errors"].sum() / part["sentences"].sum()
        assert f"{share:.1f}" == f"{accuracy:.1f}"
    value = score_judges(verdicts, replicates=2).loc[0, "balanced_accuracy"]
    assert f"{100 * value:.1f}" == f"{balanced:.1f}"
    labels = ("Logical conclusion", "Adds new information", "Nuance shift")
    shares = [100 * found.loc[label, "share_of_errors"] for label in labels]
    assert shares == pytest.approx(SHARES_13[model], abs=0.06)


def judged(sentences, *judges, **options):
    return evaluate_judges(Memerag(sentences, **options), judges).verdicts


def test_functions_judge_and_bad_ones_are_refused(small_sentences):
    def knows_paris(question, passages, answer, sentence):
        assert (question, len(passages)) == ("Where?", 2)
        assert sentence in answer
        return None if sentence == "Ja." else YES if "Paris" in sentence else "not supported"

    verdicts = judged(small_sentences, FunctionJudge("paris", knows_paris), "lexical")
    assert list(verdicts) == MEMERAG_RUN.columns
    assert len(verdicts) == 10
    mine = verdicts[verdicts["judge"] == "paris"]
    assert list(mine["value"]) == [YES, NO, None, YES, NO]
    assert list(mine["failure"]) == [None, None, "no_label", None, None]
    assert "Challenging to determine" not in set(verdicts["factuality"])
    with pytest.raises(UsageError, match="the judge j returned 'Unsupported'; return Supported"):
        judged(small_sentences, FunctionJudge("j", lambda *_: "Unsupported"))
    with pytest.raises(UsageError, match="the judge j returned True"):
        judged(small_sentences, FunctionJudge("j", lambda *_: True))


def test_what_people_could_not_determine_is_not_judged(small_sentences):
    challenging = small_sentences[small_sentences["factuality"] == "Challenging to determine"]
    with pytest.raises(UsageError, match="there is no sentence to judge"):
        judged(challenging, "lexical")


def test_limit_takes_the_first_of_each_language(small_sentences):
    verdicts = judged(small_sentences, "lexical", limit=1)
    assert list(verdicts["language"]) == ["de", "en"]
    assert set(verdicts["sentence_id"]) == {0}


def test_the_lexical_baseline_counts_runs_of_characters(small_sentences):
    assert list(judged(small_sentences, "lexical")["value"]) == [NO, NO, NO, YES, NO]


def test_the_lexical_baseline_on_real_labels(memerag_sentences):
    found = macro(score_judges(judged(memerag_sentences, "lexical"), 200))
    assert found["sentences"] == 2288
    assert found["balanced_accuracy"] == pytest.approx(0.658, abs=0.001)
    assert found["standard_error"] == pytest.approx(0.0106, abs=0.002)
