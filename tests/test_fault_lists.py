"""The same faults are listed wherever a gate's result or a board is shown."""

import json
import re
from contextlib import redirect_stdout
from io import StringIO
from xml.etree import ElementTree

import pytest
from faulty_versions import broken, good, support_arena

from arena import write_arena
from surrogate import build_board
from surrogate.checks.table import CHECKS
from surrogate_arena.cli.app import main
from surrogate_arena.pages import write_site

UNSEEN = {
    ("en", 7): "\u200b\u200b",
    ("en", 8): "Hello {first_name}, open the portal.",
    ("de", 8): "Öffnen Sie das Portal, und dann speichern Sie die Änderung unter der",
}


def faulty(language, number):
    return UNSEEN.get((language, number), broken(language, number))


def faults_of_pages(text):
    row = r'<bdi>(\w\w \S+)</bdi></th><td class="one">([\w-]+)</td><td class="one">(\w+)</td>'
    return set(re.findall(row, text))


def faults_of_markdown(text):
    rows = re.findall(r"^\| (\w\w \S+) \| ([\w\\-]+) \| \w+ \|", text, re.MULTILINE)
    listed = {(question, check.replace("\\", "")) for question, check in rows}
    return {(question, check, CHECKS[check].certainty) for question, check in listed}


def faults_of_junit(path):
    """Return failures, and what is skipped though it was found."""
    listed = set()
    for case in ElementTree.parse(path).iter("testcase"):
        check = case.get("classname").rpartition(".")[2]
        outcome = next(iter(case), None)
        is_unchecked = outcome is not None and "check" in (outcome.get("message") or "")[:25]
        if check in CHECKS and outcome is not None and not is_unchecked:
            listed.add((case.get("name"), check, CHECKS[check].certainty))
    return listed


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("lists")
    arena = support_arena({"v4": good, "v5": faulty})
    write_arena(arena, folder / "arena")
    write_site(build_board(arena, features="answer_length"), folder / "site", arena)
    return folder


def keys(faults):
    return {
        (f"{fault['language']} {fault['query_id']}", fault["check"], fault["certainty"])
        for fault in faults
    }


def gated(folder, *options):
    """Return what the command prints as JSON."""
    command = ["gate", "--arena", str(folder / "arena"), "--json", *options]
    with redirect_stdout(StringIO()) as printed, pytest.raises(SystemExit):
        main(command)
    return json.loads(printed.getvalue())


def test_every_list_of_faults_is_the_same(folder):
    reports = ["--report", str(folder / "gate.xml"), "--report", str(folder / "gate.md")]
    faults = keys(gated(folder, *reports)["faults"]["faults"])
    kinds = {check for _, check, _ in faults}
    assert kinds == {"empty", "dead-citation", "other-language", "cut", "leak"}
    assert faults_of_junit(folder / "gate.xml") == faults
    markdown = (folder / "gate.md").read_text(encoding="utf-8")
    assert faults_of_markdown(markdown) == faults
    assert "(nothing)" in markdown
    page = (folder / "site" / "systems" / "v5.html").read_text(encoding="utf-8")
    assert faults_of_pages(page) == faults
    assert "(nothing)" in page


def test_the_tool_lists_what_the_command_lists(folder):
    pytest.importorskip("mcp")
    from surrogate_arena.mcp.tools import Tools

    content = Tools(folder).gate(arena="arena").structured_content
    assert keys(content["faults"]) == keys(gated(folder)["faults"]["faults"])
