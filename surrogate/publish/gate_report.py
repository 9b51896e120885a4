"""What a gate says, for pull requests: Markdown, and JUnit XML that CI systems read."""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET  # written, never parsed

from surrogate.publish.exports import markdown_text
from surrogate.ranking.gate import Gate

SUITE = "surrogate-arena gate"

_UNSTORABLE = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def gate_markdown(gate: Gate) -> str:
    """Write a gate's verdict as Markdown, a table of the ratings by language below it."""
    first, *others = map(markdown_text, gate.sentences)
    lines = [f"### {markdown_text(gate.candidate)}: {gate.verdict}", "", first, ""]
    lines += [f"- {sentence}" for sentence in others]
    rows = gate.ratings.languages
    if len(rows):
        lines += ["", "| language | rating | baseline | standard error of the difference |"]
        lines += ["| --- | ---: | ---: | ---: |"]
        lines += [
            f"| {markdown_text(str(row.language))} | {row.rating:.2f} | {row.baseline_rating:.2f} "
            f"| {row.standard_error:.2f} |"
            for row in rows.itertuples()
        ]
    return "\n".join(lines) + "\n"


def gate_junit(gate: Gate, passes: bool) -> str:
    """Write a gate as JUnit XML: one test case, which fails where its verdict is none to pass."""
    suite = ET.Element("testsuite", name=SUITE, tests="1", failures=str(int(not passes)))
    numbers = {
        "verdict": gate.verdict,
        "by": gate.by,
        "candidate": gate.candidate,
        "baseline": gate.baseline,
        "error": f"{gate.rates.error:g}",
        "margin": f"{gate.rates.margin:g}",
        "power": f"{gate.rates.power:g}",
    }
    properties = ET.SubElement(suite, "properties")
    for name, value in numbers.items():
        ET.SubElement(properties, "property", name=name, value=_storable(value))
    case = ET.SubElement(
        suite,
        "testcase",
        classname=_storable(f"{SUITE}.{gate.baseline}"),
        name=_storable(gate.candidate),
    )
    said = _storable("\n".join(gate.sentences))
    if not passes:
        failure = ET.SubElement(case, "failure", message=_storable(gate.sentences[0]))
        failure.set("type", gate.verdict.replace(" ", "-"))
        failure.text = said
    ET.SubElement(case, "system-out").text = said
    suites = ET.Element("testsuites")
    suites.append(suite)
    ET.indent(suites)
    return ET.tostring(suites, encoding="unicode", xml_declaration=True) + "\n"


def _storable(text: str) -> str:
    """Replace what XML cannot hold."""
    return _UNSTORABLE.sub("\ufffd", text)
