"""Whether judges favor their own family, beyond what others say of the same pairs."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest

from arena.diagnostics import diagnose
from arena.diagnostics.families import model_families, self_preference_table
from arena.diagnostics.verdicts import verdicts

SYSTEMS = ("gpt-4o-mini", "o3", "claude-3", "qwen-2")
KIN = {"gpt-4o-mini", "o3"}


def judgments(favor, questions=40, judges=("gpt-4o", "person:ana", "claude-4"), seed=0):
    """Let judges prefer at random, and gpt-4o its kin in an extra share of pairs."""
    random = np.random.default_rng(seed)
    rows = []
    for number in range(questions):
        for one, other in combinations(SYSTEMS, 2):
            for judge in judges:
                winner = random.choice(["a", "b"])
                mixed = (one in KIN) != (other in KIN)
                if judge == "gpt-4o" and mixed and random.random() < favor:
                    winner = "a" if one in KIN else "b"
                rows.append((str(number), "en", one, other, winner, judge))
    columns = ["query_id", "language", "system_a", "system_b", "winner", "judge"]
    return pd.DataFrame(rows, columns=columns)


def preference(table):
    return self_preference_table(verdicts(table))


def test_a_preference_is_estimated_with_its_interval():
    found = preference(judgments(favor=0.4)).set_index("judge")
    row = found.loc["gpt-4o"]
    assert (row["family"], row["systems"]) == ("OpenAI", "gpt-4o-mini, o3")
    assert (row["others"], row["items"], row["questions"]) == (2, 160, 40)
    assert row["excess"] == pytest.approx(0.2, abs=0.08)  # 0.4 of the half that was lost
    assert row["low"] > 0
    assert row["low"] < row["excess"] < row["high"]
    assert found.loc["claude-4", "low"] < 0 < found.loc["claude-4", "high"]


def test_the_excess_is_that_of_the_same_pairs_by_hand():
    rows = [
        ("1", "gpt-4o-mini", "qwen-2", "a", "gpt-4o"),
        ("1", "qwen-2", "gpt-4o-mini", "tie", "gpt-4o"),  # the other order: 3/4 in all
        ("1", "gpt-4o-mini", "qwen-2", "b", "person:ana"),
        ("1", "gpt-4o-mini", "qwen-2", "a", "person:ben"),
        ("1", "gpt-4o-mini", "qwen-2", "a", "gpt-3.5"),  # of the same family: no witness
        ("2", "gpt-4o-mini", "qwen-2", "a", "gpt-4o"),  # judged by nobody else
        ("2", "gpt-4o-mini", "o3", "a", "gpt-4o"),  # both of the family
    ]
    columns = ["query_id", "system_a", "system_b", "winner", "judge"]
    found = preference(pd.DataFrame(rows, columns=columns).assign(language="en"))
    row = found.set_index("judge").loc["gpt-4o"]
    assert (row["items"], row["others"]) == (1, 2)
    assert (row["share"], row["share_others"], row["excess"]) == (0.75, 0.5, 0.25)
    assert np.isnan(row["low"])  # one question has no interval


def test_witnesses_are_independent_and_have_judged_the_same_pairs():
    columns = ["query_id", "system_a", "system_b", "winner", "judge"]
    rows = [
        ("1", "gpt-4o-mini", "qwen-2", "a", "gpt-4o"),
        ("1", "gpt-4o-mini", "qwen-2", "tie", "person:ana"),
        ("1", "gpt-4o-mini", "qwen-2", "a", "panel(majority)"),
        ("2", "gpt-4o-mini", "qwen-2", "b", "person:ben"),  # on what the judge has not seen
    ]
    found = preference(pd.DataFrame(rows, columns=columns).assign(language="en"))
    row = found.set_index("judge").loc["gpt-4o"]
    assert (row["items"], row["others"], row["share_others"]) == (1, 1, 0.5)
    alone = preference(pd.DataFrame(rows[2:3] + rows[:1], columns=columns).assign(language="en"))
    row = alone.set_index("judge").loc["gpt-4o"]
    assert (row["items"], row["others"]) == (0, 0)
    assert np.isnan(row["excess"])


def test_a_diagnosis_says_it():
    said = [
        str(item)
        for item in diagnose(judgments(0.5)).findings
        if item.check == "self-preference" and item.severity == "warning"
    ]
    assert len(said) == 1
    assert said[0].startswith("en, gpt-4o: it favors its own family (OpenAI: gpt-4o-mini, o3): +2")
    assert said[0].endswith("on 160 pairs")
    one = diagnose(judgments(0.5), judge="gpt-4o").self_preference
    assert one[["judge", "items"]].to_numpy().tolist() == [["gpt-4o", 160]]
    said = [str(item) for item in diagnose(judgments(0.5, judges=("gpt-4o",))).findings]
    assert any("no judge of another family judged the same pairs" in line for line in said)


@pytest.mark.parametrize(
    ("name", "families"),
    [
        ("gpt-4o-mini", {"OpenAI"}),
        ("o3-mini", {"OpenAI"}),
        ("openai/gpt-oss-20b", {"OpenAI"}),
        ("claude-3-5-sonnet-20241022", {"Anthropic"}),
        ("meta-llama/Llama-3-70b", {"Meta"}),
        ("Qwen2.5-Coder-0.5B", {"Qwen"}),
        ("mistralai/Mixtral-8x22B", {"Mistral"}),
        ("deepseek-r1-distill-llama-70b", {"DeepSeek", "Meta"}),
        ("rinna/japanese-gpt-neox-3.6b", set()),
        ("gpt-j-6b", set()),
        ("metaphor-7b", set()),
        ("my-system", set()),
    ],
)
def test_names_speak_of_families(name, families):
    assert model_families(name) == families
