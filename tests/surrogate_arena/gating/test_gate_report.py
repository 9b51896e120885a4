"""A gate's result as JUnit and Markdown: complete, well-formed, and without foreign markup."""

from dataclasses import replace
from xml.etree import ElementTree

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from arena import Arena, write_arena
from surrogate.checks.faults import FAULT_TESTS
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
    """Test name to failure, skipped or passed."""
    return {
        case.get("name"): next((child.tag for child in case), "passed")
        for case in suite.iter("testcase")
    }


def test_an_alarm_and_the_verdict_are_failures(arena):
    result = gate(None, arena=arena)
    assert result.verdict == "broken"
    suite = suite_of(result)
    shown = outcomes(suite)
    assert list(shown) == [*FAULT_TESTS, "verdict"]
    assert {name for name, outcome in shown.items() if outcome == "failure"} == {"empty", "verdict"}
    assert shown["dead citation"] == "skipped"
    reason = suite.find("testcase[@name='dead citation']/skipped").get("message")
    assert "questions and answers have no passages" in reason
    assert "9 of 12 answers are empty" in suite.find(".//failure").get("message")
    for kind, outcome in (("failures", "failure"), ("skipped", "skipped")):
        assert int(suite.get(kind)) == list(shown.values()).count(outcome)
    assert int(suite.get("tests")) == len(shown)
    values = {item.get("name"): item.get("value") for item in suite.iter("property")}
    assert values["verdict"] == "broken"
    assert values["questions"] == str(N_QUESTIONS)


def test_what_cannot_be_said_is_skipped_and_the_same_passes(arena):
    open_result = gate(None, arena=arena, rates=GateRates(accepted=("empty",)))
    shown = outcomes(suite_of(open_result))
    assert (shown["empty"], shown["verdict"]) == ("passed", "skipped")
    copied = arena.answers[arena.answers["system"] == "v1"].assign(system="v3")
    same = outcomes(suite_of(gate(None, copied, arena, "v1")))
    assert same["verdict"] == "passed"
    few = outcomes(suite_of(gate(None, copied.head(3), arena, "v1")))
    assert {few[name] for name in FAULT_TESTS} == {"skipped"}


def test_names_from_outside_stay_text(arena):
    result = replace(gate(None, arena=arena), candidate=HOSTILE)
    suite = suite_of(result)
    (candidate,) = [item for item in suite.iter("property") if item.get("name") == "candidate"]
    assert candidate.get("value").startswith("x\n# big <img src=x>")
    text = gate_markdown(result)
    tokens = MarkdownIt("gfm-like", {"linkify": False}).parse(text)
    kinds = {token.type for token in tokens}
    assert kinds == {
        *("heading_open", "heading_close", "bullet_list_open", "bullet_list_close"),
        *("list_item_open", "list_item_close", "paragraph_open", "paragraph_close", "inline"),
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
