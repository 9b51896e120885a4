"""A gate of an arena without a board: what is broken, question by question, and what is allowed."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from faulty_versions import broken, good, other, support_arena

from arena import UsageError, write_arena
from arena.data.tables import write_rows
from surrogate.checks.table import CHECKS
from surrogate_arena.gating.fault_comparison import given_limits
from surrogate_arena.gating.gate import gate
from surrogate_arena.gating.rating_difference import GateRates

REFERENCE = Path(__file__).parents[3] / "docs/reference/checks.md"
SYSTEMS = ("v4", "v9", "v10")


@pytest.fixture(scope="module")
def arena():
    return support_arena({"v4": good, "v9": other, "v10": broken}, SYSTEMS)


@pytest.fixture
def folder(arena, tmp_path):
    write_arena(arena, tmp_path / "arena")
    rows = arena.answers[arena.answers["system"] == "v4"].assign(system="v11")
    write_rows(rows, tmp_path / "v11.jsonl")
    return tmp_path


def first_words(rows, n_words):
    return rows.assign(answer=rows["answer"].str.split().str[:n_words].str.join(" "))


def test_broken_answers_are_listed_with_question_and_answer(arena):
    found = gate(arena=arena)
    assert (found.verdict, found.by, found.status) == ("broken", "answers", 3)
    assert (found.candidate, found.baseline) == ("v10", "v9")
    certain = found.faults.of_class("certain")
    assert {(fault.check, fault.query_id) for fault in certain} == {
        *(("other-language", f"de-0{number}") for number in range(7)),
        *(("dead-citation", f"en-{number}") for number in (10, 11)),
    }
    (dead,) = [fault for fault in certain if fault.query_id == "en-11"]
    assert dead.question == "How do I change the voucher of my order?"
    assert "settings [9]" in dead.answer
    assert dead.is_new
    likely = found.faults.of_class("likely")
    assert [fault.query_id for fault in likely] == ["en-00", "en-01", "en-02", "en-03"]
    assert found.reasons == (
        "dead-citation: 2 new, 0 allowed",
        "other-language: 7 new, 0 allowed",
    )
    first = found.sentences[0]
    assert (
        "9 of 60 answers have a new certain fault: 2 cite a passage that was not given; 7 are in"
        in first
    )
    assert [line.partition(":")[0] for line in found.examples][:4] == [
        "en en-10 (dead-citation)",
        "de de-00 (other-language)",
        "en en-00 (cut)",
        "en en-11 (dead-citation)",
    ]
    assert "the candidate is v10, the last system in the arena" in found.sentences[1]


def test_the_candidate_is_the_last_system_that_is_not_the_baseline(arena):
    found = gate(arena=arena, baseline="v10")
    assert (found.candidate, found.baseline) == ("v9", "v10")
    assert "the candidate is v9, the last other system in the arena" in str(found)


def test_a_fault_of_both_is_not_new_and_breaks_nothing(arena):
    rows = arena.answers[arena.answers["system"] == "v10"].assign(system="v11")
    found = gate(arena=arena, candidate=rows, baseline="v10")
    assert not found.faults.exceeded
    assert "answers have, too: 2 cite a passage that was not given;" in str(found)
    assert "No fault was found" not in str(found)


def test_new_faults_are_shown_before_those_that_the_baseline_has_too(arena):
    rows = arena.answers[arena.answers["system"] == "v10"].assign(system="v11")
    is_emptied = rows["query_id"].isin(["en-20", "en-21"])
    rows = rows.assign(answer=rows["answer"].mask(is_emptied, ""))
    found = gate(arena=arena, candidate=rows, baseline="v10")
    first_words = [line.partition(":")[0] for line in found.examples]
    assert first_words[:2] == ["en en-20 (empty)", "en en-21 (empty)"]
    assert first_words[2:]
    assert all(words.endswith("; baseline, too)") for words in first_words[2:])


@pytest.mark.parametrize("systems", [("prod", "build"), ("build", "prod")])
def test_which_of_two_systems_is_taken_for_the_new_one_is_said(systems):
    arena = support_arena(dict.fromkeys(systems, other), systems)
    found = gate(arena=arena)
    assert found.candidate == systems[-1]
    assert f"the candidate is {systems[-1]}, the last system in the arena" in str(found)
    assert not gate(arena=arena, candidate=systems[-1]).choice


def test_sound_answers_are_not_broken_and_it_says_so(arena):
    found = gate(arena=arena, candidate="v9", baseline="v4")
    assert (found.verdict, found.status, found.by) == ("cannot say", 4, "")
    assert found.sentences[0].endswith("No fault was found.")
    assert found.reasons == ("which is better needs verdicts",)
    assert f"about {found.questions_needed:,} questions" in str(found)


@pytest.mark.parametrize(
    ("allowed", "verdict"),
    [
        (["other-language=7"], "broken"),
        (["other-language=7", "dead-citation=2"], "cannot say"),
        (["other-language=6, dead-citation=2"], "broken"),
        (["other-language=all,dead-citation=all"], "cannot say"),
        (["other-language=all,dead-citation=all", "cut=3"], "broken"),
        (["other-language=all,dead-citation=all", "cut=4"], "cannot say"),
    ],
)
def test_a_team_sets_limits(arena, allowed, verdict):
    found = gate(arena=arena, rates=GateRates(allow=given_limits(allowed)))
    assert found.verdict == verdict
    assert "No fault was found" not in str(found)


def test_limits_are_read_from_a_file_and_an_option_goes_before_it(tmp_path):
    file = tmp_path / "limits.toml"
    file.write_text('other-language = 2\ncut = 0\ndead-citation = "all"\n')
    limits = given_limits(["cut=1"], file)
    assert limits == {"other-language": 2, "cut": 1, "dead-citation": None}
    with pytest.raises(UsageError, match="unknown check 'cuts'; use one of empty, error-text"):
        given_limits(["cuts=1"])
    with pytest.raises(UsageError, match="cut=few is no limit; give a number of answers, or all"):
        given_limits(["cut=few"])
    with pytest.raises(UsageError, match="cannot be read as TOML"):
        given_limits([], tmp_path / "none.toml")


def test_what_could_not_be_checked_is_counted(arena):
    rows = arena.answers[arena.answers["system"] == "v9"].assign(system="v11")
    found = gate(arena=arena, candidate=first_words(rows, 3), baseline="v4")
    said = str(found)
    assert "60 of 60 answers could not be checked for cut: they lack a full stop" in said
    assert "60 of 60 answers could not be checked for other-language" in said


def test_names_and_tables_are_taken_for_candidate_and_baseline(arena):
    by_name = gate(arena=arena, baseline="v4", candidate="v10")
    tables = dict(tuple(arena.answers.groupby("system")))
    alone = replace(
        arena,
        info=arena.info.model_copy(update={"systems": ("v9",), "reference_system": None}),
        answers=tables["v9"],
    )
    by_table = gate(arena=alone, baseline=tables["v4"], candidate=tables["v10"])
    assert (by_table.candidate, by_table.baseline) == ("v10", "v4")
    assert by_table.faults.faults == by_name.faults.faults
    assert by_table.choice == by_name.choice == ""


def test_an_order_of_versions_against_their_numbers_is_no_default(arena):
    newest_first = arena.info.model_copy(update={"systems": SYSTEMS[::-1]})
    arena = replace(arena, info=newest_first)
    with pytest.raises(UsageError, match="names v4 last, and v10 has a higher number"):
        gate(arena=arena)
    assert gate(arena=arena, candidate="v10").baseline == "v4"


@pytest.mark.parametrize(
    "names",
    [("base", "llama-65b", "llama-7b"), ("chat-32k", "x", "chat-8k"), ("a", "rag-2", "rag-3")],
)
def test_sizes_in_names_are_no_versions(arena, names):
    renamed = dict(zip(SYSTEMS, names, strict=True))
    answers = arena.answers.assign(system=arena.answers["system"].map(renamed))
    info = arena.info.model_copy(update={"systems": names})
    found = gate(arena=replace(arena, info=info, answers=answers))
    assert (found.candidate, found.baseline) == (names[2], names[1])


def test_the_command_names_questions_and_ends_with_a_status(run, folder, capsys):
    assert run("gate", "--arena", folder / "arena") == 3
    printed = " ".join(capsys.readouterr().out.split())
    assert printed.startswith(
        "v10 against v9: broken. 9 of 60 answers have a new certain fault: 2 cite"
    )
    assert "de de-00 (other-language)" in printed
    assert "New likely faults: 4 may end in mid-sentence." in printed
    assert printed.endswith("… and 10 more faults and 1 more remark; --report gate.md lists all")
    assert run("gate", "--arena", folder / "arena", "--json") == 3
    content = json.loads(capsys.readouterr().out, parse_constant=pytest.fail)
    assert list(content)[:2] == ["verdict", "status"]
    assert (content["status"], len(content["faults"]["faults"])) == (3, 13)
    assert content["reasons"] == [
        "dead-citation: 2 new, 0 allowed",
        "other-language: 7 new, 0 allowed",
    ]
    command = ["gate", "--arena", folder / "arena", "--baseline", "v4"]
    assert run(*command, "--candidate", "v9") == 4
    assert run(*command, "--candidate", folder / "v11.jsonl") == 0
    assert run(*command, "--allow", "other-language=7,dead-citation=2") == 4
    (folder / "limits.toml").write_text("other-language = 7\ndead-citation = 2\n")
    assert run(*command, "--limits", folder / "limits.toml") == 4
    capsys.readouterr()
    assert run(*command, "--candidate", "v99") == 2
    assert "'v99'; use one of v4, v9, v10" in capsys.readouterr().err
    assert run("gate", "--candidate", "v9") == 2
    assert "--arena" in capsys.readouterr().err


def test_the_reference_lists_every_check_with_its_class():
    reference = REFERENCE.read_text("utf-8")
    listed = []
    for certainty, rows in re.findall(
        r"^\| (\w+) \| the answer .*\n\|.*\n((?:\|.*\n)+)", reference, re.M
    ):
        listed += [(name, certainty) for name in re.findall(r"^\| `([a-z-]+)`", rows, re.M)]
    assert listed == [(name, check.certainty) for name, check in CHECKS.items()]
