"""A gate's result as JUnit and Markdown: complete, well-formed, and without foreign markup."""

from dataclasses import replace
from xml.etree import ElementTree

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from arena import Arena, write_arena
from surrogate.checks.table import FAULTS
from surrogate_arena.gating.gate import gate
from surrogate_arena.gating.gate_report import escaped_markdown, gate_junit, gate_markdown
from surrogate_arena.gating.rating_difference import GateRates

HOSTILE = "x\n# big <img src=x> @everyone #12 [here](https://a.b) ![i](c) `d` www.e.f **g** \x01"
N_QUESTIONS = 12


@pytest.fixture(scope="module")
def arena():
    """Two versions; the newer one answers every second question with nothing."""
    ids = [f"q{number}" for number in range(N_QUESTIONS)]
    questions = pd.DataFrame({"query_id": ids, "query": ids, "language": "en"})
    rows = []
    for number, query_id in enumerate(ids):
        full = f"The tower number {number} was built by people of the town long ago."
        texts = {"v1": full, "v2": full if number % 4 == 0 else ""}
        for system, answer in texts.items():
            row = {"query_id": query_id, "language": "en", "system": system, "answer": answer}
            rows.append(row)
    return Arena.from_frames(questions, pd.DataFrame(rows), name="versions")


def suite_of(result):
    (suite,) = ElementTree.fromstring(gate_junit(result)).iter("testsuite")
    return suite


def outcomes(suite):
    """Check and question to failure, skipped or passed."""
    results = {}
    for case in suite.iter("testcase"):
        check = case.get("classname").rpartition(".")[2]
        results[check, case.get("name")] = next((child.tag for child in case), "passed")
    return results


def test_each_answer_and_check_is_a_test(arena):
    result = gate(None, arena=arena)
    assert result.verdict == "broken"
    suite = suite_of(result)
    shown = outcomes(suite)
    assert len(shown) == len(FAULTS) * N_QUESTIONS + 1
    failed = {key for key, outcome in shown.items() if outcome == "failure"}
    empty = {("empty", f"en q{number}") for number in range(N_QUESTIONS) if number % 4}
    assert failed == {*empty, ("verdict", "verdict")}
    assert shown["dead-citation", "en q0"] == "skipped"
    assert shown["dead-citation", "en q1"] == "passed"
    reason = suite.find("testcase[@name='en q0']/skipped").get("message")
    assert reason.startswith("cannot be checked: their questions have no passages, or ")
    assert "en q1 (empty): q1 -> (nothing)" in suite.find(".//failure").get("message")
    for kind, outcome in (("failures", "failure"), ("skipped", "skipped")):
        assert int(suite.get(kind)) == list(shown.values()).count(outcome)
    assert int(suite.get("tests")) == len(shown)
    values = {item.get("name"): item.get("value") for item in suite.iter("property")}
    assert values["verdict"] == "broken"
    assert values["questions"] == str(N_QUESTIONS)


def test_what_is_allowed_or_open_is_skipped_and_the_same_passes(arena):
    open_result = gate(None, arena=arena, rates=GateRates(allow={"empty": 9}))
    suite = suite_of(open_result)
    shown = outcomes(suite)
    assert (shown["empty", "en q1"], shown["verdict", "verdict"]) == ("skipped", "skipped")
    assert suite.find("testcase[@name='en q1']/skipped").get("message").startswith("allowed: ")
    copied = arena.answers[arena.answers["system"] == "v1"].assign(system="v3")
    same = outcomes(suite_of(gate(None, copied, arena, "v1")))
    assert same["verdict", "verdict"] == "passed"
    again = arena.answers[arena.answers["system"] == "v2"].assign(system="v3")
    both = suite_of(gate(None, again, arena, "v2"))
    message = both.find("testcase[@name='en q1']/skipped").get("message")
    assert message.startswith("the baseline has it, too: ")


def test_markdown_lists_every_fault(arena):
    text = gate_markdown(gate(None, arena=arena))
    assert "#### Broken answers (9)" in text
    assert text.count("| empty | no |") == 9


def test_names_from_outside_stay_text(arena):
    result = gate(None, arena=arena)
    hostile = tuple(replace(fault, answer=HOSTILE) for fault in result.faults.faults)
    result = replace(result, candidate=HOSTILE, faults=replace(result.faults, faults=hostile))
    suite = suite_of(result)
    (candidate,) = [item for item in suite.iter("property") if item.get("name") == "candidate"]
    assert candidate.get("value").startswith("x\n# big <img src=x>")
    text = gate_markdown(result)
    tokens = MarkdownIt("gfm-like", {"linkify": False}).parse(text)
    kinds = {token.type.removesuffix("_open").removesuffix("_close") for token in tokens}
    assert kinds <= {
        *("heading", "bullet_list", "list_item", "paragraph", "inline"),
        *("table", "thead", "tbody", "tr", "th", "td"),
    }
    inline = [child for token in tokens for child in token.children or ()]
    html = [child.content for child in inline if child.type == "html_inline"]
    assert set(html) == {"<!-- -->"}
    assert {child.type for child in inline} <= {"text", "text_special", "html_inline"}
    for written in ("@everyone", "#12", "www.e.f", "https://"):
        assert written not in text


@given(st.text(alphabet=st.characters(codec="utf-8", exclude_categories=["Cc"])))
def test_escaped_text_shows_as_it_was(text):
    tokens = MarkdownIt().parseInline(escaped_markdown(text))
    children = [child for token in tokens for child in token.children or ()]
    assert {child.type for child in children} <= {"text", "text_special", "html_inline"}
    shown = "".join(child.content for child in children if child.type != "html_inline")
    assert shown == " ".join(text.split())


def test_the_command_writes_both(run, arena, tmp_path, capsys):
    write_arena(arena, tmp_path / "arena")
    command = ["gate", "--arena", tmp_path / "arena", "--report", tmp_path / "gate.xml"]
    assert run(*command, "--report", tmp_path / "gate.md") == 3
    assert "v2 against v1: broken" in capsys.readouterr().out
    result = gate(None, arena=tmp_path / "arena")
    assert (tmp_path / "gate.xml").read_text(encoding="utf-8") == gate_junit(result)
    assert (tmp_path / "gate.md").read_text(encoding="utf-8") == gate_markdown(result)
    assert run(*command[:3], "--report", tmp_path / "no" / "gate.xml") == 2
    assert run(*command[:3], "--report", tmp_path / "gate.pdf") == 2
