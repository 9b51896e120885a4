"""The gate for a cheaper candidate: costs first, then whether it is not much worse."""

from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest

from arena import write_arena
from surrogate_arena.gating.contenders import contenders
from surrogate_arena.gating.cost_comparison import compare_costs
from surrogate_arena.gating.gate import gate
from surrogate_arena.gating.gate_report import gate_junit, gate_markdown
from surrogate_arena.gating.rating_difference import GateRates, rating_difference

chat_server = pytest.importorskip("chat_server", reason="needs the extra llm")

CHEAPER = GateRates(cheaper=True)
OLD, NEW = "v1", "v2"


@pytest.fixture(scope="module")
def answered(english_arena):
    """Two versions that differ in a word, and cost 2 and 1 on average."""
    first = english_arena.info.systems[0]
    own = english_arena.answers[english_arena.answers["system"] == first].reset_index(drop=True)
    costs = 1 + np.arange(len(own)) / (len(own) - 1)
    old = own.assign(system=OLD, cost=costs * 4 / 3, latency=costs)
    new = own.assign(
        system=NEW, cost=costs * 2 / 3, latency=costs / 2, answer=own["answer"] + " Indeed."
    )
    info = english_arena.info.model_copy(update={"systems": (OLD, NEW), "reference_system": None})
    answers = pd.concat([old, new], ignore_index=True)
    currency = pd.Series("USD", answers.index, dtype=object)
    return replace(
        english_arena,
        info=info,
        answers=answers.assign(currency=currency),
        judgments=english_arena.judgments.iloc[:0],
    )


def with_cells(arena, system, **columns):
    is_of = arena.answers["system"] == system
    cells = {
        name: arena.answers[name].astype(object).mask(is_of, value)
        for name, value in columns.items()
    }
    return replace(arena, answers=arena.answers.assign(**cells))


def test_costs_and_latencies_are_compared_question_by_question(answered):
    costs = compare_costs(contenders(answered, None, None, None))
    assert (costs.cost, costs.baseline_cost) == pytest.approx((1000, 2000))
    assert costs.low < costs.cost - costs.baseline_cost < costs.high < 0
    assert costs.currency == "USD"
    assert costs.latencies[0] * 2 == pytest.approx(costs.latencies[2])
    said = " ".join(costs.sentences)
    assert "1,000 against 2,000 USD for 1,000 answers" in said
    random = np.random.default_rng(0)
    noisy = answered.answers["cost"] * random.lognormal(sigma=0.5, size=len(answered.answers))
    spread = replace(answered, answers=answered.answers.assign(cost=noisy))
    costs = compare_costs(contenders(spread, None, None, None))
    assert costs.low < costs.cost - costs.baseline_cost < costs.high
    shuffled = replace(spread, answers=spread.answers.sample(frac=1, random_state=2))
    again = compare_costs(contenders(shuffled, None, None, None))
    assert again == costs


def test_what_costs_as_much_fails_before_anybody_is_asked(answered):
    result = gate(None, OLD, answered, NEW, rates=CHEAPER)
    assert (result.verdict, result.by) == ("not cheaper", "answers")
    suite = ElementTree.fromstring(gate_junit(result)).find("testsuite")
    assert suite.find("testcase[@name='verdict']/failure").get("type") == "not cheaper"
    assert gate_markdown(result).startswith("### Gate: not cheaper")


@pytest.mark.parametrize(
    ("cells", "reason"),
    [
        ({"cost": None}, f"{NEW} has no cost"),
        ({"currency": "EUR"}, "they are in EUR and USD"),
        ({"currency": None}, "they are in no currency and USD"),
    ],
)
def test_costs_that_cannot_be_compared_are_no_pass(answered, cells, reason):
    result = gate(None, arena=with_cells(answered, NEW, **cells), rates=CHEAPER)
    assert result.verdict == "cannot say"
    assert any(reason in sentence for sentence in result.sentences)
    assert not any("verdicts would" in sentence for sentence in result.sentences)


def with_costs(arena, old, new):
    """Return an arena with other costs of its two versions."""
    priced = [
        arena.answers[arena.answers["system"] == name].assign(cost=costs)
        for name, costs in ((OLD, old), (NEW, new))
    ]
    return replace(arena, answers=pd.concat(priced, ignore_index=True))


@pytest.mark.parametrize("ratio", [0.5, 2.0])
def test_costs_on_a_few_questions_say_nothing(answered, ratio):
    is_first = np.arange(10) == 0
    few = with_costs(answered, np.where(is_first, 1.0, np.nan), np.where(is_first, ratio, np.nan))
    result = gate(None, arena=few, rates=CHEAPER)
    assert (result.verdict, result.by) == ("cannot say", "")
    assert "1 of 10 common questions" in " ".join(result.sentences)


def test_one_dear_question_does_not_make_a_candidate_cheaper(answered):
    rare = np.where(np.arange(10) == 0, 1.0, 0.0)
    result = gate(None, arena=with_costs(answered, rare, 0.099), rates=CHEAPER)
    assert result.verdict == "cannot say"
    assert result.costs.low < -1 < result.costs.high
    assert "95% interval of the difference" in " ".join(result.sentences)


@pytest.mark.parametrize("cost", [0.0, 0.003])
def test_nothing_is_cheaper_than_a_baseline_that_costs_nothing(answered, cost):
    result = gate(None, arena=with_costs(answered, 0.0, cost), rates=CHEAPER)
    assert (result.verdict, result.by) == ("not cheaper", "answers")


def test_the_same_answers_for_less_pass_and_cheap_broken_ones_do_not(answered):
    old = answered.answers[answered.answers["system"] == OLD].reset_index(drop=True)
    copied = old.assign(system="v3", cost=old["cost"] / 4)
    same = gate(None, copied, answered, OLD, rates=CHEAPER)
    assert (same.verdict, same.by) == ("cheaper", "answers")
    assert same.costs.cost == pytest.approx(same.costs.baseline_cost / 4)
    broken = gate(None, copied.assign(answer=""), answered, OLD, rates=CHEAPER)
    assert broken.verdict == "broken"


def rated(rating, error):
    high = rating + 1.6448536 * error
    row = {"language": "en", "rating": rating, "high": high, "standard_error": error}
    return pd.DataFrame([row])


@pytest.mark.parametrize(
    ("apart", "error", "expected"),
    [
        (0.5, 0.05, "not worse"),
        (0.0, 0.05, "not worse"),
        (-0.1, 0.01, "not worse"),  # 47.5%: certainly below one half, and within the margin
        (-0.2, 0.05, None),  # 45%, the margin itself
        (-1, 0.1, "worse"),
        (0.0, 0.3, None),
    ],
)
def test_ratings_are_compared_with_the_margin_in_both_directions(apart, error, expected):
    found = rating_difference(rated(apart, error), rated(0.0, error), CHEAPER, 0.05)
    assert found.difference == expected
    assert bool(found.reason) == (expected is None)


def test_nothing_is_worse_whose_rating_has_no_upper_bound():
    candidate = rated(-1, 0.1).assign(high=np.inf)
    assert rating_difference(candidate, rated(0.0, 0.1), CHEAPER, 0.05).difference is None


def prefer_old(prompt, _):
    """Choose the side without the word that the new version adds."""
    is_new_first = "Indeed." in prompt.split("[The Start of Assistant B's Answer")[0]
    return chat_server.completion("[[B]]" if is_new_first else "[[A]]")


def test_worse_is_by_more_than_the_margin_and_reports_say_it(answered, run, tmp_path, capsys):
    write_arena(answered, tmp_path / "arena")
    files = [tmp_path / "gate.xml", tmp_path / "gate.md"]
    command = ["gate", "--arena", tmp_path / "arena", "--cheaper", "--margin", 0.2]
    for file in files:
        command += ["--report", file]
    assert run(*command) == 4
    printed = " ".join(capsys.readouterr().out.split())
    assert "Whether it is more than 20 points worse needs verdicts" in printed
    with chat_server.ChatServer(prefer_old) as server:
        assert run(*command, "--model", "old", "--base-url", server.url) == 3
    headline = "v2 against v1: worse by more than 20 points of win rate."
    assert " ".join(capsys.readouterr().out.split()).startswith(headline)
    for file in files:
        assert headline in file.read_text(encoding="utf-8")


def mostly_tie(prompt, _):
    """Prefer the new version's answers to some questions; a judge that only ties tells nothing."""
    question, _, answers = prompt.partition("[The Start of Assistant A's Answer")
    if len(question) % 3:
        return chat_server.completion("[[C]]")
    is_new_first = "Indeed." in answers.split("[The Start of Assistant B's Answer")[0]
    return chat_server.completion("[[A]]" if is_new_first else "[[B]]")


def test_verdicts_pass_a_cheaper_system_that_mostly_ties_and_the_command_ends_with_0(
    answered, run, tmp_path, capsys
):
    write_arena(answered, tmp_path / "arena")
    command = ["gate", "--arena", tmp_path / "arena", "--cheaper", "--margin", 0.2]
    with chat_server.ChatServer(mostly_tie) as server:
        options = ["--model", "even", "--base-url", server.url]
        assert run(*command, *options) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert printed.startswith("v2 against v1: cheaper, and at most 20 points of win rate worse.")
    assert run(*command) == 4
    assert "at most 20 points" in " ".join(capsys.readouterr().out.split())
    assert run(*command, "--candidate", OLD, "--baseline", NEW) == 3
