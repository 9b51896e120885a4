"""What may be said of a judge by its own verdicts, and by people."""

import itertools

import numpy as np
import pandas as pd
import pytest

from arena.quality import label_judge
from arena.quality.agreement import CountedVerdicts
from arena.quality.judge_report import GRADES
from arena.quality.judge_tests import cycles
from arena.quality.people_agreement import PeopleAgreement
from arena.quality.preferences import length_test, side_test


def judgments(winner_of, questions=40, both=True):
    """Verdicts on two systems, s the first; ``winner_of(question, side of s)`` is a, b or tie."""
    orders = [("s", "t"), ("t", "s")][: 1 + both]
    rows = [
        (f"q{n}", "en", a, b, winner_of(n, "a" if a == "s" else "b"), "j")
        for n, (a, b) in itertools.product(range(questions), orders)
    ]
    columns = ["query_id", "language", "system_a", "system_b", "winner", "judge"]
    return pd.DataFrame(rows, columns=columns)


def other(side):
    return "b" if side == "a" else "a"


def mostly_s(n, side):
    return side if n % 3 else other(side)


@pytest.mark.parametrize(
    ("winner_of", "grade", "fault"),
    [
        (mostly_s, "consistent", None),
        (lambda n, side: "a", "unreliable", "80 of 80 verdicts are side A"),
        (lambda n, side: "tie", "unreliable", "80 of 80 verdicts are a tie"),
        (
            lambda n, side: "a" if n % 4 == 0 else mostly_s(n, side),
            "doubtful",
            "40 pairs judged in both orders, 10 flip (25.0%, 95% interval 14.2% to 40.2%)",
        ),
        (
            lambda n, side: "b" if n % 4 else mostly_s(n, side),
            "unreliable",
            "40 pairs judged in both orders, 30 flip (75.0%",
        ),
        (
            lambda n, side: "b" if n % 4 and side == "a" else "tie" if n % 4 else side,
            "doubtful",
            "side B is favored",
        ),
    ],
)
def test_grades(winner_of, grade, fault):
    found = label_judge("j", judgments(winner_of))
    assert found.grade == grade
    assert bool(found.faults) == (fault is not None)
    assert fault is None or any(fault in sentence for sentence in found.faults)


def test_without_both_orders_flips_are_not_known():
    found = label_judge("j", judgments(mostly_s, both=False))
    assert (found.grade, found.faults) == ("not known", ())
    assert any("in both orders" in fact for fact in found.facts)
    # Judges that mark one answer at a time, or its facts, take no order: nothing is advised.
    assert "--" not in str(found)


def test_ties_of_identical_answers_are_no_verdicts_of_the_judge():
    table = judgments(mostly_s).assign(flags="")
    identical = judgments(lambda n, side: "tie", questions=50).tail(20).assign(flags="identical")
    found = label_judge("j", pd.concat([table, identical], ignore_index=True))
    assert any(fact.startswith("0 of 80 verdicts on answers that differ") for fact in found.facts)


def test_imported_ties_of_identical_answers_neither_blame_nor_praise_a_judge():
    """They come without a flag; the answers show what they are."""
    table = judgments(lambda n, side: "a" if n % 2 else "b", questions=200)
    is_same = table["query_id"].isin(table["query_id"].unique()[:160])
    table["winner"] = table["winner"].mask(is_same, "tie")
    names = sorted({*table["system_a"], *table["system_b"]})
    rows = []
    for query_id, same in is_same.groupby(table["query_id"]).first().items():
        for number, system in enumerate(names):
            text = "the same" if same else "long " * (1 + number)
            rows.append({"language": "en", "query_id": query_id, "system": system, "answer": text})
    answers = pd.DataFrame(rows)
    found = label_judge("j", table, answers)
    by_differing = label_judge("j", table[~is_same], answers)
    assert (found.grade, len(found.faults)) == (by_differing.grade, len(by_differing.faults))
    assert "ties" not in " ".join(found.faults)
    remarks = [*found.faults, *found.facts]
    flips = [sentence for sentence in remarks if "judged in both orders" in sentence]
    assert flips
    assert set(flips) <= {*by_differing.faults, *by_differing.facts}


def test_a_few_ties_are_no_fault_of_a_judge():
    verdicts = tournament(longest, systems="ab", questions=6)[0].assign(winner="tie")
    assert label_judge("j", verdicts.head(9)).faults == ()
    assert label_judge("j", verdicts).faults


def test_peoples_ties_are_no_fault():
    verdicts = tournament(longest, systems="ab")[0].assign(winner="tie", judge="person:Ada")
    found = label_judge("person:Ada", verdicts)
    assert (found.grade, found.faults) == ("people", ())


def tournament(winner_of, systems="abcd", questions=40, seed=0, judge="j"):
    """Verdicts in both orders on all pairs, and answers; ``winner_of(query, one, other)`` names."""
    rng = np.random.default_rng(seed)
    lengths = {
        (q, name): int(rng.integers(20, 400))
        for q, name in itertools.product(range(questions), systems)
    }
    rows = []
    for q, (one, other) in itertools.product(range(questions), itertools.permutations(systems, 2)):
        won = winner_of(q, one, other, lengths)
        rows.append((f"q{q}", "en", one, other, "a" if won == one else "b", judge))
    columns = ["query_id", "language", "system_a", "system_b", "winner", "judge"]
    answers = [(f"q{q}", "en", name, "x" * size) for (q, name), size in lengths.items()]
    return (
        pd.DataFrame(rows, columns=columns),
        pd.DataFrame(answers, columns=["query_id", "language", "system", "answer"]),
    )


def longest(q, one, other, lengths):
    return max(one, other, key=lambda name: lengths[q, name])


def by_name(q, one, other, lengths):
    return min(one, other) if q % 5 else max(one, other)


STRENGTHS = {"a": 1.0, "b": 0.3, "c": -0.3, "d": -1.0}


def drawn_by(strengths, rng, one, other, more=0.0):
    logit = strengths[one] - strengths[other] + more
    return one if rng.random() < 1 / (1 + np.exp(-logit)) else other


def round_and_round(q, one, other, lengths):
    """a beats b, b beats c, c beats a; d loses."""
    return one if one + other in ("ab", "bc", "ca", "ad", "bd", "cd") else other


def test_a_judge_of_length_is_unreliable_and_one_of_quality_no_more_than_consistent():
    verdicts, answers = tournament(longest)
    found = label_judge("j", verdicts, answers)
    assert found.grade == "unreliable"
    assert "longer" in found.faults[0]
    unseen = label_judge("j", verdicts)  # without answers
    assert unseen.grade == "consistent"
    assert "not tested for length" in unseen.words
    fair = label_judge("j", *tournament(by_name))
    assert (fair.grade, fair.faults) == ("consistent", ())
    assert "reliable" not in fair.sentence
    assert "not compared with people" in fair.sentence


def test_a_judge_of_what_longer_answers_say_is_not_called_unreliable():
    verdicts, answers = tournament(longest)
    # Only whole facts count, of a hundred characters each; as many facts are a tie.
    facts = answers.set_index(["query_id", "system"])["answer"].str.len() // 100
    facts_of_a = facts.loc[pd.MultiIndex.from_frame(verdicts[["query_id", "system_a"]])]
    facts_of_b = facts.loc[pd.MultiIndex.from_frame(verdicts[["query_id", "system_b"]])]
    is_tie = facts_of_a.to_numpy() == facts_of_b.to_numpy()
    verdicts["winner"] = verdicts["winner"].mask(is_tie, "tie")
    sizes = 100 * (facts.to_numpy() + 1) + np.arange(len(facts)) % 7
    answers["answer"] = ["x" * size for size in sizes]
    assert length_test(verdicts, answers).low > 0.9
    assert label_judge("j", verdicts, answers).grade == "doubtful"


def test_a_better_system_that_writes_more_is_not_taken_for_a_taste_for_length():
    rng = np.random.default_rng(3)
    verdicts, answers = tournament(lambda q, one, other, _: drawn_by(STRENGTHS, rng, one, other))
    size = answers["system"].map({"a": 900, "b": 600, "c": 300, "d": 100})
    answers["answer"] = [("x" * n) for n in size + np.arange(len(answers)) % 7]
    assert not any("longer" in fault for fault in label_judge("j", verdicts, answers).faults)
    effect = length_test(verdicts, answers)
    assert effect.low < 0.5 < effect.high


def test_the_effect_of_length_is_the_one_verdicts_were_drawn_with():
    rng = np.random.default_rng(1)

    def drawn(q, one, other, lengths):
        longer = 1.0 if lengths[q, one] > lengths[q, other] else -1.0
        return drawn_by(STRENGTHS, rng, one, other, 0.8 * longer)

    effect = length_test(*tournament(drawn, questions=150))
    assert effect.low < 1 / (1 + np.exp(-0.8)) < effect.high
    assert effect.high - effect.low < 0.15


def test_verdicts_in_a_circle_are_counted_and_enter_the_label():
    verdicts, answers = tournament(round_and_round)
    found = cycles(verdicts, CountedVerdicts.of(verdicts))
    assert (found.triples, found.circular) == (4 * 40, 40)
    assert found.beyond > 3
    label = label_judge("j", verdicts, answers)
    assert label.grade == "unreliable" or "circle" in "; ".join(label.faults)
    only = verdicts[~verdicts[["system_a", "system_b"]].isin(["d"]).any(axis=1)]
    assert label_judge("j", only).grade == "unreliable"  # every triple is a circle
    verdicts, _ = tournament(by_name)
    straight = cycles(verdicts, CountedVerdicts.of(verdicts))
    assert straight.circular == 0


def test_circles_that_equal_ratings_let_expect_are_no_fault():
    rng = np.random.default_rng(2)
    toss = {}

    def tossed(q, one, other, lengths):
        pair = tuple(sorted((one, other)))
        return toss.setdefault((q, *pair), pair[int(rng.integers(2))])

    verdicts, _ = tournament(tossed, questions=200)
    found = cycles(verdicts, CountedVerdicts.of(verdicts))
    assert found.circular / found.triples == pytest.approx(0.25, abs=0.05)
    assert abs(found.beyond) < 3


@pytest.mark.parametrize(
    ("kappa", "error", "grade"),
    [
        (0.05, 0.05, "unreliable"),
        (0.31, 0.11, "doubtful"),
        (0.45, 0.2, "consistent"),  # too few pairs
        (0.6, 0.05, "agrees"),
    ],
)
def test_people_overrule_what_a_judge_says_of_itself(kappa, error, grade):
    verdicts, answers = tournament(by_name)
    found = label_judge("j", verdicts, answers, people=PeopleAgreement(kappa, error, 60))
    assert found.grade == grade
    assert f"{kappa:.2f}" in str(found)
    assert "not compared" not in found.sentence


def test_people_do_not_mend_a_judge_that_says_the_same():
    verdicts = judgments(lambda n, side: "a")
    found = label_judge("j", verdicts, people=PeopleAgreement(0.9, 0.01, 60))
    assert (found.grade, found.is_one_sided) == ("unreliable", True)


def test_votes_on_the_same_pairs_count_without_being_recorded():
    verdicts, _ = tournament(by_name)
    votes = tournament(lambda q, one, other, _: max(one, other), judge="person:ann")[0]
    found = label_judge("j", pd.concat([verdicts, votes], ignore_index=True))
    assert found.grade == "unreliable"
    assert found.is_compared
    people = label_judge("people", pd.concat([verdicts, votes], ignore_index=True))
    assert people.grade == "people"
    assert "not compared" not in people.sentence


@pytest.mark.parametrize("preference", [0.0, 0.7])
def test_the_side_that_a_judge_prefers_is_told_from_strength(preference):
    rng = np.random.default_rng(2)
    verdicts, _ = tournament(
        lambda q, one, other, _: drawn_by(STRENGTHS, rng, one, other, preference)
    )
    # The best system stands on side A three times of four.
    is_dropped = (verdicts["system_b"] == "a") & (rng.random(len(verdicts)) < 2 / 3)
    test = side_test(verdicts[~is_dropped])
    assert test.low < 1 / (1 + np.exp(-preference)) < test.high
    assert test.high - test.low < 0.15
    assert test.grade == ("doubtful" if preference else "consistent")


@pytest.mark.parametrize(
    ("winner_of", "grade"),
    [
        (mostly_s, "not known"),
        (lambda n, side: side, "doubtful"),
        (lambda n, side: "tie", "not known"),
    ],
)
def test_sides_that_never_change_tell_no_preference_unless_one_always_wins(winner_of, grade):
    test = side_test(judgments(winner_of, both=False))
    assert (test.grade, test.statistic) == (grade, None)


def test_flips_are_counted_over_both_orders():
    outcomes = {"same": "ab", "ties": ("tie", "tie"), "to a": "aa", "to b": "bb"}
    outcomes |= {"half": ("b", "tie"), "once": "a"}
    rows = []
    for query_id, winners in outcomes.items():
        for sides, winner in zip(("xy", "yx"), winners, strict=False):
            rows.append((query_id, "en", *sides, winner, "j"))
    columns = ["query_id", "language", "system_a", "system_b", "winner", "judge"]
    flips = label_judge("j", pd.DataFrame(rows, columns=columns)).test("flips")
    assert flips.statistic == 0.4
    assert "of 5 pairs judged in both orders, 2 flip (40.0%" in flips.sentence
    # Wilson by hand: center (p + z²/2n) / (1 + z²/n), half sqrt(p q z²/n + z⁴/4n²) / (1 + z²/n)
    assert (flips.low, flips.high) == pytest.approx((0.1176, 0.7693), abs=1e-4)


def test_two_people_who_disagree_are_no_flip():
    rows = [("q", "en", "x", "y", "a", "human", "ann"), ("q", "en", "y", "x", "a", "human", "bob")]
    columns = ["query_id", "language", "system_a", "system_b", "winner", "judge", "voter"]
    votes = pd.DataFrame(rows, columns=columns)
    assert label_judge("human", votes).test("flips").statistic is None
    assert label_judge("human", votes.assign(voter="ann")).test("flips").statistic == 1.0


def test_grades_are_ordered_from_the_worst():
    assert GRADES[:2] == ("unreliable", "doubtful")
