"""Winners in the words, numbers and columns of the field."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from surrogate_arena.importers.winner_columns import (
    NO_WINNER,
    NoWinner,
    WinnerReading,
    read_one_hot,
    read_side_scores,
    read_side_wins,
)
from surrogate_arena.importers.winners import UndecidableWinnersError, read_winners

WORDS = {
    "a": "A a model_a MODEL_A system_a System-A Model_1 left first agent_a assistant_a response_a",
    "b": "B b model_b MODEL_B system_b System-B Model_2 right second agent_b assistant_b side_b",
    "tie": "C c tie TIE draw Draw equal both_good tie(inconsistent)",
    "bad": "bothbad both_bad neither NEITHER tie(bothbad) Both_Bad",
}
SPACED = {
    "a": [
        "Model A",
        " model_a ",
        "assistant A is better",
        "[[A]]",
        "Left",
        "A wins",
        "A>B",
        "A>>B",
        "[[A>>B]]",
        "B<A",
        "Model A > Model B",
        "leftvote",
        "vote_a",
        "Option A",
        "👈  A is better",
        "A is much better",
        "\u200ba",
        "response 1 is slightly better",
        "Slightly prefer A",
        "strongly prefer response 1",
        "links",
        "Antwort A",
        "1-0",
        "win",
        "L",
    ],
    "b": [
        "Model B",
        "model_b\t",
        "Assistant B is better",
        "[[B]]",
        "Right",
        "B>A",
        "B>>A",
        "A<<B",
        "rightvote",
        "vote b",
        "Option B",
        "👉  B is better",
        "b is slightly better",
        "B is clearly better",
        "prefer answer B",
        "droite",
        "右",
        "0:1",
        "lost",
    ],
    "tie": [
        "tie (inconsistent)",
        "Tie (both good)",
        "Tie",
        " tie",
        "A=B",
        "A~=B",
        "B = A",
        "tievote",
        "🤝  Tie",
        "Both are equally good",
        "1/2-1/2",
        "=",
        "unentschieden",
        "引き分け",
    ],
    "bad": [
        "tie (bothbad)",
        "tie (both bad)",
        "Both Bad",
        "both are bad",
        "bothbad_vote",
        "👎  Both are bad",
        "both equally bad",
    ],
}
SAID = [(text, kind) for kind, texts in WORDS.items() for text in texts.split()]
SAID += [(text, kind) for kind, texts in SPACED.items() for text in texts]
MEANT = {"a": WinnerReading("a"), "b": WinnerReading("b"), "tie": WinnerReading("tie")}
MEANT["bad"] = WinnerReading("tie", is_both_bad=True)
SIDES = ("x", "y")


def read(*values, sides=SIDES, **options):
    return read_winners(values, [sides] * len(values), **options)


def letters(*values, **options):
    return "".join(verdict.winner[0] for verdict in read(*values, **options))


@pytest.mark.parametrize(("text", "kind"), SAID)
def test_words_of_the_field_are_winners(text, kind):
    assert read(text) == [MEANT[kind]]


@given(st.lists(st.sampled_from(SAID)), st.sampled_from([str.upper, str.lower, str.title]))
def test_case_and_spaces_say_nothing(said, changed):
    texts = [f" {changed(text)} " for text, _ in said]
    assert read(*texts) == [MEANT[kind] for _, kind in said]


NOTHING = [None, "", "  ", "nan", math.nan, "None", "null", "NA", "error"]
NOTHING += ["no_winner", "Skip", "invalid", "unknown", "No winner", "abstain"]
NOTHING += ["Can't choose", "can’t decide", "undecided", "Not sure"]


@pytest.mark.parametrize("value", NOTHING)
def test_a_missing_winner_is_no_fault(value):
    assert read(value, "a") == [NO_WINNER, WinnerReading("a")]
    assert not NO_WINNER.is_fault


@pytest.mark.parametrize(
    "value",
    ["d", "model_c", "maybe", "model_a or model_b", "[1]", "A>C", "A>A", "1 vote", "👍", "A B"],
)
def test_other_words_are_faults(value):
    (verdict,) = read(value)
    assert isinstance(verdict, NoWinner)
    assert verdict.is_fault


@pytest.mark.parametrize(
    ("values", "winners"),
    [
        ((1, 0, 0.5), "abt"),
        (("1", "0", "0.5"), "abt"),
        (("1,0", "0,5"), "at"),
        ((1.0, 0.5), "at"),
        ((1, -1), "ab"),
        ((1, 0, -1), "atb"),
        ((1, 2), "ab"),
        (("1", "2", "tie"), "abt"),
        ((1, 2, 3), "abt"),
        ((1, 2, 1.5), "abt"),
        ((0.5, 0.5), "tt"),
    ],
)
def test_numbers_are_read_by_the_scale_of_their_column(values, winners):
    assert letters(*values) == winners


@pytest.mark.parametrize(
    "values", [(1, 0), (0, 1, 2), (1,), ("0",), (2,), (5, 7), (0.3, 0.5), (1, 0, "tie")]
)
def test_numbers_that_may_mean_either_side_are_refused(values):
    with pytest.raises(UndecidableWinnersError) as refused:
        read(*values)
    assert refused.value.hint


@pytest.mark.parametrize(
    ("record", "winner"),
    [
        ({"a_wins": "true"}, "a"),
        ({"a_wins": False}, "b"),
        ({"b_wins": 1}, "b"),
        ({"model_b_won": "no"}, "a"),
        ({"a_wins": True, "b_wins": False}, "a"),
        ({"a_wins": 0, "b_wins": 0}, "tie"),
        ({"a_wins": None, "b_wins": True}, "b"),
    ],
)
def test_whether_a_side_won_is_read(record, winner):
    assert read_side_wins(record).winner == winner


@pytest.mark.parametrize(
    "record", [{"a_wins": None}, {"a_wins": 1, "b_wins": 1}, {"a_wins": "X Y"}]
)
def test_what_does_not_say_which_side_won_is_no_winner(record):
    assert isinstance(read_side_wins(record), NoWinner)


def test_the_higher_score_of_two_sides_wins():
    scores = [("8", "7"), (5, 9.5), ("6,5", "6.5"), (None, 3), ("n/a", "")]
    readings = [read_side_scores(*pair) for pair in scores]
    assert readings == [MEANT["a"], MEANT["b"], MEANT["tie"], NO_WINNER, NO_WINNER]
    assert read_side_scores("good", "bad").is_fault


def test_counts_of_wins_are_refused_with_what_to_write():
    assert "'weight'" in read_side_wins({"a_wins": "12", "b_wins": "7"}).hint


def test_a_truth_value_does_not_say_of_which_side_it_is():
    (verdict,) = read("true")
    assert isinstance(verdict, NoWinner)
    assert "a_wins" in verdict.hint


def test_a_preference_is_a_soft_verdict():
    verdicts = read(1.93, "1.02", 1.5, 2, 1, None, 0, field="preference")
    winners = [verdict.winner for verdict in verdicts if isinstance(verdict, WinnerReading)]
    assert winners == ["b", "a", "tie", "b", "a", "tie"]
    assert (verdicts[0].probability_a, verdicts[0].probability_b) == pytest.approx((0.07, 0.93))
    assert (verdicts[1].probability_a, verdicts[1].probability_b) == pytest.approx((0.98, 0.02))
    assert verdicts[5] == NO_WINNER
    assert [v.is_soft for v in verdicts[2:5]] == [False] * 3


@given(st.lists(st.floats(1, 2), min_size=1))
def test_preferences_are_cut_at_the_middle(values):
    verdicts = read(*values, 2.0, field="preference")
    for value, verdict in zip(values, verdicts, strict=False):
        assert verdict.winner == ("a" if value < 1.5 else "b" if value > 1.5 else "tie")
        points = (
            verdict.probability_a if verdict.is_soft else {"a": 1, "b": 0}.get(verdict.winner, 0.5)
        )
        assert points == pytest.approx(2 - value, abs=1e-6)


@pytest.mark.parametrize("values", [(0, 1), (1, 3), (-1, 1), (0.2, 1.4), (1, 1)])
def test_preferences_on_another_scale_are_refused(values):
    with pytest.raises(UndecidableWinnersError):
        read(*values, field="preference")


def test_the_winner_may_be_named():
    sides = [("gpt", "llama"), ("llama", "gpt"), ("gpt", "mistral"), ("gpt", "llama")]
    verdicts = read_winners(["gpt", "gpt", " mistral ", "tie"], sides)
    assert [verdict.winner for verdict in verdicts] == ["a", "b", "b", "tie"]


def test_names_are_told_by_case():
    first, second = read("Qwen", "qwen", sides=("qwen", "Qwen"))
    assert (first.winner, second.winner) == ("b", "a")


@pytest.mark.parametrize("value", ["gpt-4O", "GPT-4o", "GPT-4o > Llama", "llama<gpt-4o"])
def test_the_case_of_a_name_does_not_count(value):
    assert letters(value, sides=("gpt-4o", "llama")) == "a"
    assert letters(value, sides=("llama", "gpt-4o")) == "b"


def test_a_comparison_of_letters_that_name_the_other_sides_is_refused():
    with pytest.raises(UndecidableWinnersError):
        read("A>B", sides=("B", "A"))


def test_a_system_may_be_called_as_a_missing_winner():
    assert letters("unknown", "gpt", sides=("gpt", "unknown")) == "ba"


@pytest.mark.parametrize("name", ["none", "NA", "null", "nan", "None"])
def test_a_system_called_as_a_missing_value_wins_by_its_name(name):
    sides = [(name, "rag"), ("rag", name), ("rag", "other")]
    verdicts = read_winners([name, name, name], sides)
    assert [verdict.winner for verdict in verdicts[:2]] == ["a", "b"]
    assert isinstance(verdicts[2], NoWinner)


def test_names_and_words_may_stand_in_one_column():
    assert letters("x", "model_b", "y") == "abb"


def test_names_that_are_numbers_win():
    assert letters("4", "3.5", sides=(4, 3.5)) == "ab"
    assert letters(4, 3.5, sides=("4", "3.5")) == "ab"
    assert letters(4.0, sides=(3.5, 4.0)) == "b"


def test_a_letter_that_names_the_other_system_is_refused():
    sides = [("A", "B"), ("B", "A")]
    with pytest.raises(UndecidableWinnersError):
        read_winners(["A", "A"], sides)
    with pytest.raises(UndecidableWinnersError):
        read_winners([1, 2], [("1", "2"), ("1", "2"), ("2", "1")][1:])


def test_letters_are_sides_where_names_do_not_fit_all():
    verdicts = read_winners(["A", "B"], [("B", "A"), ("C", "A")])
    assert [verdict.winner for verdict in verdicts] == ["a", "b"]


def test_letters_are_sides_in_our_own_tables():
    verdicts = read_winners(["a", "b"], [("b", "a"), ("b", "a")], sides_are_letters=True)
    assert [verdict.winner for verdict in verdicts] == ["a", "b"]


def marked(a, b, tie, **others):
    columns = {"winner_model_a": a, "winner_model_b": b, "winner_tie": tie}
    return read_one_hot(columns | others)


@pytest.mark.parametrize("true", [1, 1.0, "1", "1.0", True, "TRUE", " yes ", "1,0", "WAHR", "vrai"])
@pytest.mark.parametrize("false", [0, 0.0, "0", "0.0", False, "FALSE", None, "", "FALSCH", "faux"])
def test_one_true_column_is_the_winner(true, false):
    assert marked(true, false, false) == WinnerReading("a")
    assert marked(false, true, false) == WinnerReading("b")
    assert marked(false, false, true) == WinnerReading("tie")
    bad = marked(false, false, false, winner_bothbad=true)
    assert bad == WinnerReading("tie", is_both_bad=True)


def test_rows_without_one_true_column_have_their_reason():
    reasons = {marked(*row).reason for row in ((0, 0, 0), (1, 1, 0), (None, None, None))}
    assert len(reasons) == 3
    assert not any(marked(*row).is_fault for row in ((0, 0, 0), (1, 1, 0), (None,) * 3))
    assert marked("maybe", 0, 0).is_fault
