"""A gate's result as JUnit for CI servers, and as Markdown for pull requests."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from xml.etree import ElementTree

from arena.data.schema import QUESTION_KEY
from surrogate.checks.table import CHECKS, FAULTS
from surrogate_arena.gating.fault_comparison import (
    AnswerFault,
    FaultComparison,
    fault_line,
    shortened,
)
from surrogate_arena.gating.gate_result import FAILED, Gate

SUITE = "surrogate-arena gate"
NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML 1.0 cannot hold, not even escaped (section 2.2)."""
MARKDOWN_SIGNS = re.compile(r"[\\`*_{}\[\]<>&|~$]|(?<=www)\.|:(?=//)")
"""Signs that start markup in GitHub's Markdown, and those that make a link of an address."""
MENTION_SIGNS = re.compile("[@#]")


def gate_junit(result: Gate) -> str:
    """Return JUnit's XML: a test of each answer by each check, and one of the verdict.

    Certain faults beyond a team's limits fail; other faults, what could not be checked, and
    ``cannot say`` are skipped, with the reason.
    """
    suite = ElementTree.Element("testsuite", name=SUITE)
    properties = ElementTree.SubElement(suite, "properties")
    for name, value in _properties(result).items():
        ElementTree.SubElement(properties, "property", name=name, value=_xml_text(value))
    _add_answers(suite, result.faults)
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
    """Return Markdown, to which names of systems add no markup, links or mentions."""
    lines = [f"### Gate: {result.verdict}", ""]
    lines += [f"- {escaped_markdown(text)}" for text in result.sentences]
    lines += _fault_table("Broken answers", result.faults.of_class("certain"))
    lines += _fault_table("Likely faults", result.faults.of_class("likely"))
    lost_rows = []
    for lost in result.lost:
        row = (
            f"{lost.language} {lost.query_id}",
            "expected" if lost.is_expected else f"{lost.votes:,}",
            shortened(lost.question, 120),
            shortened(lost.answer, 200),
            shortened(lost.baseline_answer, 200),
        )
        lost_rows.append(row)
    columns = ("question", "verdicts", "asked", "answer", "baseline")
    is_expected = any(lost.is_expected for lost in result.lost)
    title = "Expected losses" if is_expected else "Lost questions"
    lines += _table(title, columns, lost_rows)
    return "\n".join(lines) + "\n"


def _fault_table(title: str, faults: Sequence[AnswerFault]) -> list[str]:
    rows = []
    for fault in faults:
        row = (
            f"{fault.language} {fault.query_id}",
            fault.check,
            "no" if fault.is_new else "yes",
            shortened(fault.question, 120),
            shortened(fault.answer, 200),
        )
        rows.append(row)
    return _table(title, ("question", "check", "baseline, too", "asked", "answer"), rows)


def _table(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    if not rows:
        return []
    lines = ["", f"#### {title} ({len(rows):,})", "", f"| {' | '.join(columns)} |"]
    lines.append("|---" * len(columns) + "|")
    for row in rows:
        lines.append(f"| {' | '.join(map(escaped_markdown, row))} |")
    return lines


def escaped_markdown(text: str) -> str:
    """Return one line of GitHub's Markdown that shows a text as it is."""
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
    if result.ratings is not None and math.isfinite(result.ratings.rating):
        properties["expected_win_rate"] = f"{result.ratings.win_rate:.4f}"
    return properties


def _add_answers(suite: ElementTree.Element, faults: FaultComparison) -> None:
    exceeded = {count.check for count in faults.exceeded}
    limits = {count.check: count.limit for count in faults.counts}
    found = {(fault.language, fault.query_id, fault.check): fault for fault in faults.faults}
    columns = [*QUESTION_KEY, "check"]
    unchecked = set(faults.candidate.unchecked[columns].itertuples(index=False, name=None))
    answers = faults.candidate.answers[QUESTION_KEY]
    for language, query_id in answers.itertuples(index=False, name=None):
        for name in FAULTS:
            case = _add_case(suite, name, f"{language} {query_id}")
            key = (language, query_id, name)
            if key in unchecked:
                reason = CHECKS[name].unchecked
                ElementTree.SubElement(case, "skipped", message=f"cannot be checked: {reason}")
            if key not in found:
                continue
            is_exceeded = name in exceeded and found[key].is_new
            _add_fault(
                case, found[key], "" if is_exceeded else _reason_to_pass(found[key], limits[name])
            )


def _add_fault(case: ElementTree.Element, fault: AnswerFault, reason_to_pass: str) -> None:
    message = _xml_text(fault_line(fault, longest=200))
    if reason_to_pass:
        ElementTree.SubElement(case, "skipped", message=f"{reason_to_pass}: {message}")
        return
    element = ElementTree.SubElement(case, "failure", type=fault.check, message=message)
    element.text = _xml_text(fault.answer)


def _reason_to_pass(fault: AnswerFault, limit: int | None) -> str:
    if not fault.is_new:
        return "the baseline has it, too"
    if fault.certainty == "likely" and limit is None:
        return "a likely fault"
    return "allowed"


def _add_case(suite: ElementTree.Element, group: str, name: str) -> ElementTree.Element:
    return ElementTree.SubElement(
        suite,
        "testcase",
        classname=f"{SUITE}.{group}".replace(" ", "-"),
        name=_xml_text(name),
        time="0",
    )


def _xml_text(text: str) -> str:
    return NOT_XML.sub("\ufffd", text)
