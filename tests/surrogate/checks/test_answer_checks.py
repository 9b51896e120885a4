"""A candidate against a baseline by their answers alone: broken, or merely different."""

import math
from dataclasses import asdict

import pandas as pd
import pytest
from answer_versions import BROKEN, TOPICS, arena_of, good, other
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from arena import Arena, UsageError
from arena.statistics.significance import sign_test, two_sided_sign_test
from surrogate.checks.answer_checks import ALARM_ERROR, compare_answers
from surrogate.checks.faults import FAULT_TESTS


def checks_of(write, baseline=other, accepted=(), **options):
    arena = arena_of({"v1": baseline, "v2": write}, **options)
    answers = dict(tuple(arena.answers.groupby("system")))
    return compare_answers(arena, answers["v2"], answers["v1"], accepted)


def alarmed(checks):
    return {check.name for check in checks.checks if check.severity == "error"}


def check_of(checks, name):
    (check,) = [check for check in checks.checks if check.name == name and not check.language]
    return check


@pytest.mark.slow
@pytest.mark.parametrize("kind", BROKEN)
def test_each_kind_of_broken_answers_raises_its_alarm(kind):
    checks = checks_of(BROKEN[kind])
    assert kind in alarmed(checks)
    check = check_of(checks, kind)
    assert check.candidate >= 18
    assert check.baseline == 0
    assert check.adjusted_p_value <= ALARM_ERROR
    assert f"{check.candidate:.0f} of 20 answers" in check.sentence
    assert not checks_of(BROKEN[kind], accepted=tuple(alarmed(checks))).is_broken


def test_answers_cut_to_phrases_are_not_called_complete():
    """A phrase may be cut or a title: the sentence counts those that nobody can tell."""

    def phrase(topic, number):
        return " ".join(good(topic, number).split()[:3])

    def often_cut(topic, number):
        return good(topic, number)[: 60 if number < 12 else None]

    checks = checks_of(phrase, baseline=often_cut)
    check = check_of(checks, "cut")
    assert (check.candidate, check.baseline) == (0, 12)
    assert (check.unclear, check.unclear_of_baseline) == (20, 0)
    assert check.severity == "info"
    assert "20 more may" in check.sentence
    complete = check_of(checks_of(good, baseline=often_cut), "cut")
    assert (complete.unclear, complete.severity) == (0, "info")
    assert "more may" not in complete.sentence


def test_answers_that_are_the_baselines_are_not_called_different():
    checks = checks_of(good, baseline=lambda topic, number: good(topic, max(number, 3)))
    (sentence,) = [text for text in checks.sentences if "word for word" in text]
    assert not sentence.startswith("Different")


def test_a_fifth_of_cut_answers_is_found_among_enough_questions():
    topics = [f"{topic} {place}" for topic in TOPICS for place in ("north", "south", "east")]

    def cut(topic, number):
        return good(topic, number)[: 60 if number % 5 == 0 else None]

    check = check_of(checks_of(cut, topics=topics), "cut")
    assert check.severity == "error"
    # The others happen to end with a sentence.
    assert check.candidate == 8
    assert check.p_value == pytest.approx(0.5**check.more)


@pytest.mark.parametrize(
    "write",
    [
        other,
        lambda topic, number: good(topic, number) * 2 if number == 3 else good(topic, number),
        lambda topic, number: f"The {topic}",
        lambda topic, number: f"- the {topic}\n- built in 19{number:02d} by people\n- some coins",
        lambda topic, number: f"{good(topic, number)}\n\n```\nprint('{topic}')\n```",
        lambda topic, number: f"{good(topic, number)}\n\nSee https://example.org/{topic}",
        lambda topic, number: f"{good(topic, number)} [1]",
        lambda topic, number: f"{good(topic, number)}\n\nKind regards,\n\n[Your name]",
    ],
    ids=["same", "one twice", "phrases", "list", "code", "link", "citation", "signature"],
)
def test_answers_that_are_merely_different_break_nothing(write):
    checks = checks_of(write, baseline=good)
    assert not alarmed(checks)


def test_shorter_answers_are_a_note_with_both_medians():
    checks = checks_of(lambda topic, number: f"It was built in 19{number:02d}: the {topic}.")
    assert not checks.is_broken
    check = check_of(checks, "length")
    assert (check.severity, check.less, check.p_value) == ("info", 20, pytest.approx(2 * 0.5**20))
    assert "20 of 20 answers are shorter; median 7 words, baseline" in check.sentence
    assert check.sentence in checks.notes


def test_an_alarm_stands_on_what_the_baseline_does_not_do_as_well():
    checks = checks_of(BROKEN["cut"], baseline=lambda topic, number: other(topic, number)[:50])
    assert "cut" not in alarmed(checks)
    turned = checks_of(good, baseline=BROKEN["cut"])
    assert not turned.is_broken
    assert "0 of 20 answers end in mid-sentence; baseline 20" in turned.notes


def test_one_empty_answer_is_a_note():
    checks = checks_of(lambda topic, number: "" if number == 4 else good(topic, number))
    assert not checks.is_broken
    assert "1 of 20 answers is empty; baseline 0" in checks.notes


def test_without_passages_citations_and_support_are_not_checked_and_it_says_so():
    checks = checks_of(BROKEN["dead citation"], passages=False)
    assert not {"dead citation", "cited", "support"} & {check.name for check in checks.checks}
    assert any("no passages" in skipped.reason for skipped in checks.skipped)
    uncited = checks_of(good, baseline=lambda topic, number: other(topic, number)[:-4] + ".")
    assert any("baseline cites no passage" in skipped.reason for skipped in uncited.skipped)


THAI = "เมืองนี้สร้าง{0}ขึ้นในปีที่{1}โดยชาวเมืองและผู้มาเยือนทุกคนต้องจ่ายเงินเพื่อซ่อมแซม"
ARABIC = "بنى أهل المدينة {0} في سنة {1} وما زال كل زائر يدفع بعض المال من أجل صيانته كل عام."
JAPANESE = "町の人々は19{1:02d}年に{0}を建てました。訪れる人はみな入場料を払います。"


@pytest.mark.slow
@pytest.mark.parametrize(("language", "text"), [("ar", ARABIC), ("ja", JAPANESE)])
def test_cut_answers_are_found_in_other_scripts(language, text):
    def whole(topic, number):
        return text.format(topic, number)

    def cut(topic, number):
        return whole(topic, number)[:-6]

    checks = checks_of(cut, baseline=whole, language=language)
    assert alarmed(checks) == {"cut"}
    assert not checks_of(whole, baseline=whole, language=language).is_broken


def test_a_script_without_sentence_marks_is_not_checked_for_cuts():
    checks = checks_of(
        lambda topic, number: THAI.format(topic, number)[:-20],
        baseline=lambda topic, number: THAI.format(topic, number),
        language="th",
    )
    assert "cut" not in {check.name for check in checks.checks}
    assert any(skipped.names == ("cut",) for skipped in checks.skipped)


@pytest.mark.slow
def test_a_fault_in_one_language_alone_is_named_with_it():
    english = arena_of({"v1": other, "v2": good})
    german = arena_of({"v1": BROKEN["other language"], "v2": BROKEN["cut"]}, language="de")
    tables = [
        pd.concat(parts)
        for parts in zip(
            (english.queries, english.answers), (german.queries, german.answers), strict=True
        )
    ]
    arena = Arena.from_frames(*tables)
    answers = dict(tuple(arena.answers.groupby("system")))
    checks = compare_answers(arena, answers["v2"], answers["v1"])
    (cut,) = [check for check in checks.checks if check.name == "cut" and check.severity == "error"]
    assert (cut.language, cut.candidate, cut.questions) == ("", 20, 40)
    few = answers["v2"][
        (answers["v2"]["language"] == "en") | answers["v2"]["query_id"].isin(["q1"])
    ]
    assert not compare_answers(arena, few, answers["v1"]).is_broken


@pytest.mark.parametrize("n_questions", [1, 6])
def test_few_questions_raise_no_alarm_and_it_says_so(n_questions):
    checks = checks_of(BROKEN["empty"], topics=TOPICS[:n_questions])
    assert not checks.is_broken
    assert checks.skipped[0].reason.endswith("an alarm takes at least 7")
    faults = [check for check in checks.checks if check.name in FAULT_TESTS]
    assert all(math.isnan(check.adjusted_p_value) for check in faults)


def test_only_questions_with_answers_of_both_are_compared():
    checks = checks_of(lambda topic, number: good(topic, number) if number < 8 else None)
    assert (checks.questions, checks.is_broken) == (8, False)
    arena = arena_of({"v1": other, "v2": good})
    rows = arena.answers
    halves = rows[(rows["system"] == "v2") == rows["query_id"].isin(["q1", "q2"])]
    answers = dict(tuple(halves.groupby("system")))
    nothing = compare_answers(arena, answers["v2"], answers["v1"])
    assert (nothing.questions, nothing.checks) == (0, ())
    (skipped,) = nothing.skipped
    assert str(skipped) == "nothing is checked: no question has an answer of both"


def test_the_order_of_rows_and_the_names_of_systems_change_nothing():
    arena = arena_of({"v1": other, "v2": BROKEN["cut"]})
    answers = dict(tuple(arena.answers.groupby("system")))
    checks = compare_answers(arena, answers["v2"], answers["v1"])
    shuffled = answers["v2"].sample(frac=1, random_state=1).assign(system="zz")
    again = compare_answers(arena, shuffled, answers["v1"])
    # By their texts, since NaN is no equal of itself.
    assert repr(again.checks) == repr(checks.checks)


def test_an_unknown_check_is_refused_with_those_there_are():
    with pytest.raises(UsageError, match="unknown check 'cuts'; use one of empty, cut"):
        checks_of(good, accepted=("cuts",))


@given(st.integers(0, 60), st.integers(0, 60))
def test_the_sign_test_is_scipys(n_more, n_less):
    n_pairs = n_more + n_less
    one_sided = binomtest(n_more, n_pairs, alternative="greater").pvalue if n_pairs else 1.0
    two_sided = binomtest(n_more, n_pairs).pvalue if n_pairs else 1.0
    assert sign_test(n_more, n_less) == pytest.approx(one_sided)
    assert two_sided_sign_test(n_more, n_less) == pytest.approx(two_sided)


def test_checks_are_records_of_numbers_and_words():
    for check in checks_of(BROKEN["cut"]).checks:
        assert all(isinstance(value, str | int | float | None) for value in asdict(check).values())
