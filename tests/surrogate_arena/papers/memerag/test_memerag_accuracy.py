"""Balanced accuracy, its errors and tests, and the paper's tables of judges and labels."""

import math

import numpy as np
import pandas as pd
import pytest
from memerag_samples import answered, labeled, lines_of, verdict_table
from metaeval_command import run, run_json
from sklearn.metrics import balanced_accuracy_score

from arena import UsageError
from surrogate_arena.papers.evaluation import Evaluation, evaluate_judges
from surrogate_arena.papers.judges import FunctionJudge
from surrogate_arena.papers.memerag.accuracy import (
    BEST,
    DAGGER,
    MACRO,
    average_over_judges,
    fine_grained_accuracy,
    mark_best,
    permutation_p_values,
    score_judges,
)
from surrogate_arena.papers.memerag.benchmark import Memerag
from surrogate_arena.papers.settings import DEFAULTS, MetaevalSettings

YES, NO = "Supported", "Not Supported"
AS_IN_PAPER = MetaevalSettings(as_in_paper=True)
QUICK = MetaevalSettings(replicates=50, permutations=500)
SHARED = MetaevalSettings(replicates=200, seed=3)
HITS = [(YES, YES)] * 3 + [(YES, NO)] + [(NO, NO)] * 1 + [(NO, YES)] * 1


def drawn(seed, items=200, accuracy=0.7):
    human = np.where(np.random.default_rng(0).random(items) < 0.7, YES, NO)
    random = np.random.default_rng(seed)
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
    found = score_judges(verdict_table(pairs), MetaevalSettings(replicates=4000)).loc[
        0, "standard_error"
    ]
    assert found == pytest.approx(spread, rel=0.06)


def test_p_values_are_those_of_all_swaps():
    amounts = np.array([0.3, 0.2, 0.2, -0.1, 0.05, 0.0])
    signs = np.array(np.meshgrid(*[[-1, 1]] * 5)).reshape(5, -1).T
    exact = (np.abs(signs @ amounts[:5]) >= amounts.sum() - 1e-9).mean()
    terms = np.column_stack([amounts, np.zeros(6)])
    found = permutation_p_values(terms, 40_000, np.random.default_rng(0))
    assert found == pytest.approx([exact, 1], abs=0.01)


def repeated(verdicts, times):
    """Return verdicts of answers with so many sentences, all right or all wrong."""
    copies = [verdicts.assign(sentence_id=number) for number in range(times)]
    return pd.concat(copies, ignore_index=True)


def test_an_answer_judged_as_a_whole_counts_once_but_not_in_the_papers_way():
    once = pd.concat([verdict_table(drawn(seed), judge=f"j{seed}") for seed in (3, 4)])
    answers = repeated(once, 4)
    by_question, of_one = score_judges(answers), score_judges(once)
    by_sentence = score_judges(answers, AS_IN_PAPER)
    error = of_one["standard_error"]
    assert by_question["standard_error"].tolist() == pytest.approx(error)
    assert by_sentence["standard_error"].tolist() == pytest.approx(error / 2, rel=0.1)
    p_values = [
        mark_best(of_one, verdicts, settings)["p_value"].max()
        for verdicts, settings in [(once, DEFAULTS), (answers, DEFAULTS), (answers, AS_IN_PAPER)]
    ]
    assert p_values[0] == p_values[1] > 5 * p_values[2]


def judged(sentences, *judges, **options):
    settings = MetaevalSettings(**options)
    return evaluate_judges(Memerag(sentences, settings=settings), judges).verdicts


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
    for said in ("Maybe", True):
        with pytest.raises(UsageError, match=f"the judge j returned {said!r}"):
            judged(small_sentences, FunctionJudge("j", lambda *_, said=said: said))


TABLE_13 = {  # French: sentences, and percent right of GPT-4o mini and of Llama 3.2 90B
    "Logical conclusion": (151, 80.1, 87.4),
    "Direct paraphrase": (182, 93.4, 97.3),
    "Other": (2, 50.0, 50.0),
    "Adds new information": (81, 67.9, 33.3),
    "Nuance shift": (30, 26.7, 16.7),
    "Mis-referencing": (20, 35.0, 20.0),
    "Contradiction": (32, 65.6, 50.0),
    "Opinion as fact": (12, 66.7, 25.0),
    "Other mistake": (19, 84.2, 52.6),
    "Wrong reasoning": (10, 80.0, 40.0),
}
TABLE_13_MEANS = {
    "all supported": (87.2, 92.5),
    "all not supported": (60.3, 33.8),
    "balanced accuracy": (73.7, 63.2),
}
MODELS = ("gpt-4o-mini", "llama-3.2-90b")


def right_as_often(french, place):
    """Return verdicts that are right on as many sentences of each label as the paper says."""
    judged = french[french["factuality"].isin([YES, NO])].reset_index(drop=True)
    judged = judged.rename(columns={"factuality": "truth", "fine_grained_factuality": "fine"})
    number = judged.groupby("fine").cumcount()
    right = judged["fine"].map(
        {label: round(row[0] * row[1 + place] / 100) for label, row in TABLE_13.items()}
    )
    wrong = judged["truth"].map({YES: NO, NO: YES})
    keys = ["language", "query_id", "sentence_id", "truth", "fine"]
    return judged[keys].assign(
        judge=MODELS[place],
        prompt="ag_cot",
        value=judged["truth"].where(number < right, wrong),
        failure=None,
        was_asked=True,
    )


def test_table_13_of_the_paper(memerag_sentences):
    french = memerag_sentences[memerag_sentences["language"] == "fr"]
    verdicts = pd.concat([right_as_often(french, place) for place in (0, 1)], ignore_index=True)
    fine = fine_grained_accuracy(verdicts)
    settings = MetaevalSettings(replicates=2, permutations=1)
    table = Memerag(french, settings=settings).report(Evaluation(verdicts)).tables[-1]
    assert list(table.table) == ["label", "sentences", *MODELS]
    rows = {label: row for label, *row in table.table.itertuples(index=False)}
    for label, (sentences, *percentages) in TABLE_13.items():
        assert rows[label] == [sentences, *(f"{value:.1f}" for value in percentages)], label
    for label, percentages in TABLE_13_MEANS.items():
        assert rows[label][1:] == [f"{value:.1f}" for value in percentages], label
    share = fine.set_index(["judge", "fine"])["share_of_errors"]
    assert [round(100 * share[model, "Adds new information"], 1) for model in MODELS] == [32.1, 40]
    assert [round(100 * share[model, "Nuance shift"], 1) for model in MODELS] == [27.2, 18.5]


def made_up(judge, prompt, language, error_rate, seed, sentences=80):
    random = np.random.default_rng(seed)
    human = random.choice([YES, NO], sentences, p=[0.6, 0.4])
    wrong = random.random(sentences) < error_rate
    said = [
        ({YES: NO, NO: YES}[label] if miss else label)
        for label, miss in zip(human, wrong, strict=True)
    ]
    return verdict_table(list(zip(human, said, strict=True)), judge, prompt, language)


@pytest.fixture(scope="module")
def verdicts():
    """Two models with two prompts in two languages; ``ag`` is far better than ``zs`` for one."""
    rates = {("m", "zs"): 0.45, ("m", "ag"): 0.05, ("n", "zs"): 0.2, ("n", "ag"): 0.2}
    tables = [
        made_up(judge, prompt, language, rate, seed)
        for seed, language in enumerate(("en", "de"))
        for (judge, prompt), rate in rates.items()
    ]
    return pd.concat(tables, ignore_index=True)


def of_judge(verdicts, judge, prompt):
    return verdicts[(verdicts["judge"] == judge) & (verdicts["prompt"] == prompt)]


def test_marks_are_within_a_model_or_over_models(verdicts):
    scores = score_judges(verdicts, QUICK)
    by_model = mark_best(scores, verdicts, QUICK, within=["judge"])
    macro = by_model[by_model["language"] == MACRO].set_index(["judge", "prompt"])
    assert macro.loc["m", "mark"].to_dict() == {"ag": BEST, "zs": ""}
    assert sorted(macro.loc["n", "mark"]) == [BEST, DAGGER]
    with pytest.raises(UsageError, match="human labels"):
        mark_best(
            scores,
            pd.concat([verdicts, of_judge(verdicts, "m", "ag").assign(judge="o", truth=YES)]),
        )
    over_models = mark_best(scores, verdicts, QUICK, within=["prompt"])
    marks = over_models.set_index(["prompt", "language", "judge"])["mark"]
    assert [marks[p, MACRO, m] for p in ("ag", "zs") for m in "mn"] == [BEST, "", "", BEST]


def test_p_values_are_corrected_for_all_pairs_of_judges():
    table = pd.concat([verdict_table(drawn(seed), judge=f"j{seed}") for seed in range(4)])
    scores = score_judges(table, QUICK)
    p_values = mark_best(scores, table)["p_value"]
    in_paper = mark_best(scores, table, AS_IN_PAPER)["p_value"]
    # The smallest of all p-values is multiplied by the number of pairs, 6.
    assert p_values.min() == pytest.approx(6 * in_paper.min(), rel=0.05)


def test_averages_over_models_are_means_and_share_their_draws(verdicts):
    scores = score_judges(verdicts, SHARED)
    averages = average_over_judges(verdicts, SHARED).set_index(["prompt", "language"])
    means = scores.groupby(["prompt", "language"])["value"].mean()
    pd.testing.assert_series_equal(averages["value"].sort_index(), means, check_names=False)
    twins = pd.concat([of_judge(verdicts, "m", "ag").assign(judge=name) for name in "ab"])
    one = score_judges(twins[twins["judge"] == "a"], SHARED).set_index("language")
    both = average_over_judges(twins, SHARED).set_index("language")
    assert both["standard_error"].to_dict() == pytest.approx(one["standard_error"].to_dict())
    assert average_over_judges(of_judge(verdicts, "m", "ag")).empty


@pytest.fixture
def folder(tmp_path):
    """Two languages, answers by two models."""
    folder = tmp_path / "memerag"
    folder.mkdir()
    rows = [
        answered(
            f"q{number}",
            labeled("Paris is in France.", YES, "Direct paraphrase"),
            labeled("Bananas are yellow.", NO, "Adds new information", number=1),
            labeled("Perhaps.", "Challenging to determine", number=2),
        )
        | {"model": f"LLM-{'AB'[number % 2]}"}
        for number in range(4)
    ]
    for language in ("en", "de"):
        (folder / f"{language}.jsonl").write_text(lines_of(*rows))
    return folder


def test_statistics_by_language_and_by_model(folder):
    found = run_json("memerag", folder, "--statistics", "--languages", "en")
    assert found["general"][0]["questions"] == 4
    assert [(row["model"], row["sentences"]) for row in found["by_model"]] == [
        ("LLM-A", 6), ("LLM-B", 6)
    ]  # fmt: skip
    assert found["by_model"][0][YES] == pytest.approx(100 / 3)
    printed = run("memerag", folder, "--statistics").stdout
    assert "33.3" in printed
    assert "LLM-B" in printed


def test_tables_2_6_and_7_in_one_table(tmp_path, quick):
    fine = ["Direct paraphrase", "Logical conclusion", "Direct paraphrase"]
    wrong = ["Contradiction"] * 3
    directly, context = "Directly answers the question", "Adds context to the answer"
    rows = [
        answered("a", labeled("x", [YES] * 3, fine, [context] * 3)),
        answered("b", labeled("x", [NO, NO, YES], wrong, [context, directly, None])),
        answered("c", labeled("x", [NO] * 3, wrong, [directly] * 3)),
    ]
    path = tmp_path / "en.jsonl"
    path.write_text(lines_of(*rows))
    found = run_json("memerag", tmp_path, "--statistics", "--config", quick)
    qualities = {row["quality"]: row for row in found["agreement"]}
    assert list(qualities) == [
        *("faithfulness, coarse", "faithfulness, fine", "relevance, coarse", "relevance, fine")
    ]
    ac1 = {quality: row["coefficients"]["ac1"]["value"] for quality, row in qualities.items()}
    assert ac1["relevance, coarse"] == 1  # all are relevant
    assert ac1["faithfulness, coarse"] == pytest.approx(23 / 41)
    printed = run("memerag", tmp_path, "--statistics", "--config", quick).stdout
    assert "Agreement of people" in printed
    assert "0.56" in printed
