"""The gate: what it says by a board's ratings, by verdicts, and when it cannot say."""

import json
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from arena import UsageError, read_arena, write_arena
from arena.data.tables import write_rows
from surrogate_arena.gating.fault_comparison import given_limits
from surrogate_arena.gating.gate import gate
from surrogate_arena.gating.gate_result import SURROGATE_SHARE
from surrogate_arena.gating.rating_difference import GateRates, rating_difference
from surrogate_arena.gating.sequential_test import SequentialTest

chat_server = pytest.importorskip("chat_server", reason="needs the extra llm")

# The simulated systems cite what is not there, and answer in English now and then.
ANY = GateRates(allow=given_limits(["dead-citation=all,other-language=all"]))
BEST, WORST = "sim-atlas-large", "sim-iris-instruct"


@pytest.fixture(scope="module")
def board(quick_board):
    """A board whose surrogate is taken to be shown to rank unseen systems."""
    summary = quick_board.summary
    macro = summary.macro.model_copy(update={"tau_unseen": 0.7, "tau_unseen_low": 0.4})
    return replace(quick_board, summary=summary.model_copy(update={"macro": macro}))


def answers_of(arena, system, name="new"):
    rows = arena.answers[arena.answers["system"] == system]
    return rows.assign(system=name)


def rated(rating, error, language="en"):
    high = rating + 1.6448536 * error
    row = {"language": language, "rating": rating, "high": high, "standard_error": error}
    return pd.DataFrame([row])


@pytest.mark.parametrize(
    ("apart", "error", "said"),
    [(1.0, 0.3, "better"), (-1.0, 0.3, "worse"), (0.0, 0.05, "same"), (0.5, 0.3, None)],
)
def test_ratings_say_it_where_their_intervals_do(apart, error, said):
    found = rating_difference(rated(apart, error), rated(0.0, error), GateRates(), 0.05)
    assert found.difference == said
    assert bool(found.reason) == (said is None)
    reach = 1.959964 * np.hypot(error, error)
    assert (found.low, found.high) == pytest.approx((apart - reach, apart + reach))
    turned = rating_difference(rated(0.0, error), rated(apart, error), GateRates(), 0.05)
    opposite = {"better": "worse", "worse": "better", "same": "same", None: None}
    assert turned.difference == opposite[said]


def test_more_languages_make_no_interval_narrower():
    one = rating_difference(rated(1.0, 0.3), rated(0.0, 0.3), GateRates(), 0.05)
    own = pd.concat([rated(1.0, 0.3), rated(1.0, 0.3, "sw")])
    other = pd.concat([rated(0.0, 0.3), rated(0.0, 0.3, "sw"), rated(9.0, 0.1, "th")])
    both = rating_difference(own, other, GateRates(), 0.05)
    assert (both.rating, both.low, both.high) == pytest.approx((one.rating, one.low, one.high))
    assert list(both.languages["language"]) == ["en", "sw"]


def test_without_an_interval_or_an_upper_bound():
    bare = rated(3.0, 0.1).assign(high=np.nan, standard_error=np.nan)
    found = rating_difference(bare, rated(0.0, 0.1), GateRates(), 0.05)
    assert found.difference is None
    assert "no interval" in found.reason
    beyond = rated(-2.0, 0.1).assign(high=np.inf)
    assert rating_difference(beyond, rated(0.0, 0.1), GateRates(), 0.05).difference is None
    beyond = rated(2.0, 0.1).assign(high=np.inf)
    assert rating_difference(beyond, rated(0.0, 0.1), GateRates(), 0.05).difference == "better"


def test_the_surrogate_alone(board, small_arena, quick_features):
    table = quick_features[quick_features["system"] == BEST].assign(system="new")
    new = answers_of(small_arena, BEST)
    found = gate(board, new, small_arena, WORST, feature_table=table, rates=ANY)
    assert (found.verdict, found.by, found.ratings.error) == ("better", "surrogate", 0.05)
    assert found.questions == 20
    again = answers_of(small_arena, WORST, WORST)
    table = quick_features[quick_features["system"] == WORST].assign(system=f"{WORST} (candidate)")
    turned = gate(board, again, small_arena, feature_table=table, rates=ANY)
    assert (turned.verdict, turned.baseline) == ("worse", board.overall["system"][0])
    assert turned.candidate == f"{WORST} (candidate)"


@pytest.mark.slow
def test_it_cannot_say_and_names_what_would(board, small_arena, quick_features):
    table = quick_features[quick_features["system"] == BEST].assign(system="new")
    half = answers_of(small_arena, BEST)
    half["answer"] += " That is all."
    found = gate(board, half, small_arena, BEST, feature_table=table, rates=ANY)
    assert (found.verdict, found.by) == ("cannot say", "")
    assert "interval" in found.ratings.reason
    assert "cannot say" in repr(found)
    assert str(found).splitlines() == list(found.sentences)
    assert found.questions_needed == found.rates.test(0.8).scores_needed(0.05, found.variance)
    assert found.difference_found > 0.2
    (outlook,) = [text for text in found.sentences if text.startswith("To show ")]
    assert "a difference of 5 points in the win rate" in outlook
    assert f"takes about {found.questions_needed:,} questions" in outlook
    assert f"the {found.questions} questions here" in outlook


def test_versions_without_a_common_question_are_not_told_to_ask_more(small_arena):
    old = answers_of(small_arena, BEST)
    questions = old["query_id"].drop_duplicates()
    is_early = old["query_id"].isin(questions.iloc[: len(questions) // 2])
    answers = pd.concat([old[is_early], old[~is_early].assign(system="new")], ignore_index=True)
    info = small_arena.info.model_copy(update={"systems": (BEST, "new"), "reference_system": None})
    apart = replace(
        small_arena, info=info, answers=answers, judgments=small_arena.judgments.iloc[:0]
    )
    found = gate(None, arena=apart, rates=ANY)
    assert (found.verdict, found.questions) == ("cannot say", 0)
    said = " ".join(found.sentences)
    assert "no question in common" in said
    assert "verdicts would" not in said


def test_questions_in_languages_that_are_not_compared_are_not_unanswered(
    board, small_arena, quick_features
):
    table = quick_features[quick_features["system"] == BEST].assign(system="new")
    new, language = answers_of(small_arena, BEST), board.languages[0]
    found = gate(board, new, small_arena, WORST, feature_table=table, rates=ANY, languages=language)
    asked = new["language"].eq(language).sum()
    assert 0 < asked < len(new)
    assert (found.questions, found.unanswered) == (asked, 0)
    assert "baseline alone answered" not in " ".join(found.sentences)


def test_a_language_without_a_rating_is_not_passed_over(board, small_arena, quick_features):
    table = quick_features[quick_features["system"] == BEST].assign(system="new")
    new = answers_of(small_arena, BEST)
    spoilt = new.assign(answer=new["answer"].where(new["language"] != "en", ""))
    rates = replace(ANY, allow={**ANY.allow, "empty": None})
    found = gate(board, spoilt, small_arena, WORST, feature_table=table, rates=rates)
    assert found.verdict == "cannot say"
    assert found.ratings.reason.startswith("the candidate has no rating in en: not ranked: ")


@pytest.mark.slow
def test_a_surrogate_that_is_not_validated_says_nothing(board, small_arena, quick_features):
    macro = board.summary.macro.model_copy(update={"tau_unseen_low": -0.1})
    summary = board.summary.model_copy(update={"macro": macro})
    table = quick_features[quick_features["system"] == BEST].assign(system="new")
    doubted = replace(board, summary=summary)
    found = gate(
        doubted, answers_of(small_arena, BEST), small_arena, WORST, feature_table=table, rates=ANY
    )
    assert found.verdict == "cannot say"
    assert found.ratings.reason in " ".join(found.sentences)


def test_what_is_no_candidate_or_baseline_is_refused(board, small_arena):
    with pytest.raises(UsageError, match="12 systems"):
        gate(board, small_arena.answers, small_arena)
    with pytest.raises(UsageError, match="`baseline`"):
        gate(board, answers_of(small_arena, BEST), small_arena, "sim-atlas")
    with pytest.raises(UsageError, match="out of range"):
        GateRates(error=2)


@pytest.fixture(scope="module")
def folders(board, small_arena, quick_features, tmp_path_factory):
    root = tmp_path_factory.mktemp("gate")
    write_arena(small_arena, root / "arena")
    board.save(root / "board", root / "arena")
    for name, system in (("same", BEST), ("worse", WORST)):
        rows = answers_of(small_arena, system)
        if name == "same":
            rows = rows.assign(answer=rows["answer"].str.replace("<", "<b>") + " |&")
        write_rows(rows, root / f"{name}.jsonl")
        table = quick_features[quick_features["system"] == system].assign(system="new")
        table.to_parquet(root / f"{name}.parquet")
    return root


def command(folders, name, *options):
    table = ["--feature-table", folders / f"{name}.parquet"]
    return [
        *("gate", "--board", folders / "board", "--candidate", folders / f"{name}.jsonl"),
        *("--baseline", BEST, *table, "--allow", "dead-citation=all,other-language=all", *options),
    ]


@pytest.mark.slow
def test_the_command_says_the_verdict_and_ends_with_a_status(run, folders, capsys):
    assert run(*command(folders, "worse")) == 3
    printed = capsys.readouterr().out
    assert printed.startswith(f"new against {BEST}: worse, by the surrogate alone.")
    assert run(*command(folders, "same")) == 4
    capsys.readouterr()
    assert run(*command(folders, "same", "--json")) == 4
    content = json.loads(capsys.readouterr().out, parse_constant=pytest.fail)
    assert content["verdict"] == "cannot say"
    assert content["faults"]["candidate"].keys() == {"answers", "found", "unchecked"}


@pytest.mark.slow
def test_the_same_answers_are_the_same_whatever_the_surrogate_is_worth(board, small_arena):
    """One other word, or one answer less, and it is no longer said at once."""
    macro = board.summary.macro.model_copy(update={"tau_unseen": 0.1, "tau_unseen_low": -0.4})
    doubted = replace(board, summary=board.summary.model_copy(update={"macro": macro}))
    own = answers_of(small_arena, BEST)
    found = gate(doubted, own, small_arena, BEST, rates=ANY)
    assert (found.verdict, found.by) == ("same", "answers")
    other = own.assign(answer=own["answer"].where(own.index != own.index[0], "Another."))
    for candidate in (other, own.iloc[1:]):
        assert gate(doubted, candidate, small_arena, BEST, rates=ANY).verdict == "cannot say"


@pytest.mark.slow
def test_verdicts_say_what_the_surrogate_cannot(run, folders, capsys):
    """The candidate writes what the best system does, with a mark that the judge dislikes."""

    def dislikes(prompt, _):
        first = prompt.partition("[The Start of Assistant A's Answer ")[2]
        first = first.partition("[The End of Assistant A's")[0]
        return chat_server.completion("[[B]]" if "|&" in first else "[[A]]")

    with chat_server.ChatServer(dislikes) as server:
        options = ["--model", "local", "--base-url", server.url, "--json"]
        status = run(*command(folders, "same", *options))
        content = json.loads(capsys.readouterr().out, parse_constant=pytest.fail)
        assert (status, content["verdict"], content["by"]) == (3, "worse", "verdicts")
        assert content["win_rate"] == 0
        asked = sum(server.asked.values())
        assert asked == len(content["verdicts"]["judgments"]) <= 40
        assert run(*command(folders, "same", *options)) == 3
        assert sum(server.asked.values()) == asked
        capsys.readouterr()
        assert run(*command(folders, "same", *options[:4], "--budget", 4)) == 4
        printed = capsys.readouterr().out
    assert "the planned 4 verdicts are judged" in printed
    error = GateRates().error * (1 - SURROGATE_SHARE)
    level = SequentialTest(error).level
    assert 1 - error < level < 1
    assert f"({level:.1%} interval 0 to 100;" in " ".join(printed.split())
    assert "new" not in read_arena(folders / "arena").info.systems


def test_a_judge_that_sees_sides_alone_says_nothing(run, folders, capsys):
    with chat_server.ChatServer(lambda *_: chat_server.completion("[[A]]")) as server:
        options = ["--model", "sides", "--base-url", server.url, "--margin", 0.1, "--json"]
        assert run(*command(folders, "same", *options)) == 4
    content = json.loads(capsys.readouterr().out, parse_constant=pytest.fail)
    assert content["verdict"] == "cannot say"
    # One half, whatever the answers are, is no win rate.
    assert content["win_rate"] is None
    assert "50.0%" not in content["sentences"][0]
    said = re.search(r"chose side A in (\d+) of (\d+) verdicts", " ".join(content["sentences"]))
    assert said[1] == said[2]  # ties of identical answers are none of its verdicts
    about_sides = [sentence for sentence in content["sentences"] if "side A" in sentence]
    assert len(about_sides) == 1
    assert "Judge sides is unreliable" in content["sentences"][0]


def test_a_judge_that_always_took_the_longer_answer_may_like_length(run, folders, capsys):
    """The candidate always writes a little more than the baseline, so nobody can tell."""

    def answers_of_prompt(prompt):
        texts = []
        for side in "AB":
            rest = prompt.partition(f"[The Start of Assistant {side}'s Answer ")[2]
            texts.append(rest.partition(f"[The End of Assistant {side}'s")[0])
        return texts

    def longer(prompt, _):
        first, second = answers_of_prompt(prompt)
        return chat_server.completion("[[A]]" if len(first) > len(second) else "[[B]]")

    with chat_server.ChatServer(longer) as server:
        options = ["--model", "long", "--base-url", server.url, "--json"]
        run(*command(folders, "same", *options))
    content = json.loads(capsys.readouterr().out, parse_constant=pytest.fail)
    assert content["equal_length"]["win_rate"] is None
    assert not content["equal_length"]["is_liked"]
    assert "decided by length" in " ".join(content["sentences"])


def test_a_gate_whose_judge_cannot_be_read_fails(run, folders, capsys):
    """It is no "cannot say", which status 4 would be."""
    with chat_server.ChatServer(lambda *_: chat_server.completion("no idea")) as server:
        options = ["--model", "mumbling", "--base-url", server.url]
        assert run(*command(folders, "same", *options)) == 1
    assert "no idea" in capsys.readouterr().err


def test_a_gate_takes_the_settings_of_llms(run, folders, capsys):
    with chat_server.ChatServer(lambda *_: chat_server.completion("[[C]]")) as server:
        stated = ["--config", "omit=temperature", "--config", 'body={"max_completion_tokens": 9}']
        options = ["--model", "thinking", "--base-url", server.url, "--budget", 4, *stated]
        assert run(*command(folders, "same", *options)) in (0, 4)
        bodies = server.bodies
    assert bodies
    for body in bodies:
        assert body["max_completion_tokens"] == 9
        assert not {"max_tokens", "temperature"} & body.keys()
    capsys.readouterr()
