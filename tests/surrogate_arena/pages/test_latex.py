"""LaTeX of boards compiles with pdflatex, and prints what the board says."""

import re
import shutil
import subprocess

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from surrogate_arena.pages.exports import ALL, OVERALL, export_text, latex_table, latex_text

NAMES = (
    *("a-b--c---d", "``quoted'' 'x' \"y\"", "50% & #1 $x_1^2$ ~^\\{}", "<a|b>", "-0.5", "?`!`,,"),
    *("Łódź ÅÄÖ øßœ", "null\x00 \x1b[31m", "\\input{/etc/passwd}", "−1 ∞ – — …", "\\end{table}"),
)
DOCUMENT = r"""\documentclass{{article}}
\usepackage{{booktabs}}
\begin{{document}}
\listoftables
{}
\end{{document}}
"""


def compiled(text, folder):
    """Compile a table twice, so that the list of tables is read, too; return the PDF's text."""
    source = folder / "paper.tex"
    source.write_text(DOCUMENT.format(text), encoding="utf-8")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "-no-shell-escape"]
    for _ in range(2):
        done = subprocess.run([*command, source.name], cwd=folder, capture_output=True)
        log = done.stdout.decode(errors="replace")
        assert done.returncode == 0, log[-2000:]
        assert "\n!" not in log
    if shutil.which("pdftotext") is None:
        return None
    command = ["pdftotext", "-layout", folder / "paper.pdf", "-"]
    return subprocess.run(command, capture_output=True, check=True).stdout.decode()


@pytest.fixture(scope="module")
def pdflatex():
    if shutil.which("pdflatex") is None:
        pytest.skip("needs pdflatex")


def test_negative_numbers_have_a_minus_of_mathematics(board):
    """The sign of Unicode once ended pdflatex with an error for every negative number."""
    assert (board.ratings["rating"] < 0).any()
    text = export_text(board, "latex", ALL, ["system", "rating", "low", "high"])
    assert "−" not in text
    for value in board.ratings["rating"]:
        if round(value, 2) < 0:
            assert f"$-${-value:,.2f}" in text


@given(st.text(st.characters(max_codepoint=127)))
def test_a_text_holds_no_mark_that_means_something_to_latex(text):
    shown = latex_text(text)
    assert not re.search(r"(?<!\\)[#%&_~^]", shown)
    unescaped = re.sub(r"\\[{}]", "", shown)
    assert unescaped.count("{") == unescaped.count("}")
    assert "--" not in shown


def test_texts_of_other_scripts_stay_as_they_are():
    assert latex_text("モデル-大 Łódź") == "モデル-大 Łódź"


@pytest.mark.slow
@pytest.mark.parametrize("part", [OVERALL, ALL, "en"])
def test_a_board_compiles(pdflatex, board, part, tmp_path):
    printed = compiled(export_text(board, "latex", part), tmp_path)
    if printed is not None and part == "en":
        rows = board.ratings[board.ratings["language"] == "en"]
        assert (rows["rating"] < 0).any()
        for rating in rows["rating"]:
            assert f"{rating:z.2f}".replace("-", "−") in printed.replace("- ", "-")


@pytest.mark.slow
def test_hostile_names_compile_and_nothing_they_say_is_run(pdflatex, tmp_path):
    table = pd.DataFrame({"system": NAMES, "rating": -1.5})
    printed = compiled(latex_table(table, "any", NAMES[8], "a|b\nc"), tmp_path)
    if printed is not None:
        assert "root:" not in printed
        assert r"\input" in printed
        assert printed.count("−1.50") == len(NAMES)
