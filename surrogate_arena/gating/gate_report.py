"""A gate's result as other programs show it: JUnit for CI servers, Markdown for pull requests."""

from __future__ import annotations

import math
import re
from xml.etree import ElementTree

from surrogate.checks.answer_checks import FEWEST_DIFFERENT, AnswerChecks
from surrogate.checks.faults import FAULT_TESTS
from surrogate_arena.gating.gate_result import Gate

SUITE = "surrogate-arena gate"
FAILED = ("broken", "not cheaper", "worse")
"""Verdicts that fail a pipeline."""
NOT_CHECKED = "not checked: no question has an answer of both that tells"
NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML 1.0 cannot hold, not even escaped (section 2.2)."""
MARKDOWN_SIGNS = re.compile(r"[\\`*_{}\[\]<>&|~$]|(?<=www)\.|:(?=//)")
"""Signs that start markup in GitHub's Markdown, and those that make a link of an address."""
MENTION_SIGNS = re.compile("[@#]")


def gate_junit(result: Gate) -> str:
    """Return a result as JUnit's XML: one test for each check of answers, and one for the verdict.

    What was not checked, and ``cannot say``, is skipped, with the reason.
    """
    suite = ElementTree.Element("testsuite", name=SUITE)
    properties = ElementTree.SubElement(suite, "properties")
    for name, value in _properties(result).items():
        ElementTree.SubElement(properties, "property", name=name, value=_xml_text(value))
    for name in FAULT_TESTS:
        _add_check(suite, name, result.checks)
    verdict = _add_case(suite, "verdict", "verdict")
    message = _xml_text(result.sentences[0])
    if result.verdict in FAILED:
        ElementTree.SubElement(verdict, "failure", type=result.verdict, message=message)
    elif result.verdict == "cannot say":
        ElementTree.SubElement(verdict, "skipped", message=message)
    output = ElementTree.SubElement(suite, "system-out")
    output.text = _xml_text("\n".join(result.sentences))
    suite.set("tests", str(len(suite.findall("testcase"))))
    suite.set("failures", str(len(suite.findall("testcase/failure"))))
    suite.set("errors", "0")
    suite.set("skipped", str(len(suite.findall("testcase/skipped"))))
    suites = ElementTree.Element("testsuites")
    suites.append(suite)
    ElementTree.indent(suites)
    return ElementTree.tostring(suites, encoding="unicode", xml_declaration=False) + "\n"


def gate_markdown(result: Gate) -> str:
    """Return a result as Markdown, to which names of systems add no markup, links or mentions."""
    lines = [f"### Gate: {result.verdict}", ""]
    lines.extend(f"- {escaped_markdown(sentence)}" for sentence in result.sentences)
    return "\n".join(lines) + "\n"


def escaped_markdown(text: str) -> str:
    """Return a text as one line of GitHub's Markdown that shows it and nothing else."""
    line = " ".join(text.split())
    line = MARKDOWN_SIGNS.sub(r"\\\g<0>", line)
    # GitHub looks for mentions and issues after it removed escapes; a comment parts them.
    return MENTION_SIGNS.sub(r"\g<0><!-- -->", line)


def _properties(result: Gate) -> dict[str, str]:
    properties = {
        "verdict": result.verdict,
        "by": result.by,
        "candidate": result.candidate,
        "baseline": result.baseline,
        "questions": str(result.questions),
    }
    if result.win_rate is not None:
        properties["win_rate"] = f"{result.win_rate:.4f}"
    if result.costs is not None and math.isfinite(result.costs.ratio):
        properties["cost_ratio"] = f"{result.costs.ratio:.4f}"
    if result.ratings is not None and math.isfinite(result.ratings.rating):
        properties["expected_win_rate"] = f"{result.ratings.win_rate:.4f}"
    return properties


def _add_check(suite: ElementTree.Element, name: str, checks: AnswerChecks) -> None:
    case = _add_case(suite, "answers", name)
    alarms = []
    for check in checks.checks:
        if check.name == name and check.severity == "error":
            alarms.append(check.sentence)
    if alarms:
        message = _xml_text("; ".join(alarms))
        ElementTree.SubElement(case, "failure", type="broken", message=message)
        return
    if checks.questions < FEWEST_DIFFERENT:
        reason = f"an alarm takes answers of both to {FEWEST_DIFFERENT} questions"
        ElementTree.SubElement(case, "skipped", message=reason)
    elif not any(check.name == name for check in checks.checks):
        reasons = [str(skipped) for skipped in checks.skipped if name in skipped.names]
        reason = reasons[0] if reasons else NOT_CHECKED
        ElementTree.SubElement(case, "skipped", message=_xml_text(reason))


def _add_case(suite: ElementTree.Element, group: str, name: str) -> ElementTree.Element:
    return ElementTree.SubElement(
        suite, "testcase", classname=f"{SUITE}.{group}".replace(" ", "-"), name=name, time="0"
    )


def _xml_text(text: str) -> str:
    return NOT_XML.sub("\ufffd", text)
