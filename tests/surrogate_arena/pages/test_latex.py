"""LaTeX of boards compiles with pdflatex, and prints what the board says."""

import re
import shutil
import subprocess

import pandas as pd
import pytest

from surrogate_arena.pages.exports import ALL, OVERALL, export_text, latex_table

NAMES = (
    *("a-b", "``quoted'' 'x' \"y\"", "50% & #1 $x_1^2$ ~^\\{}", "<a|b>", "-0.5", "[0]", "*"),
    *("Łódź ÅÄÖ øßœ", "\\input{/etc/passwd}", "−1 ∞ – — …", "\\end{table}"),
)
DOCUMENT = r"""\documentclass{{article}}
\usepackage[T1]{{fontenc}}
\usepackage{{booktabs}}
\begin{{document}}
{}
\end{{document}}
"""


def compiled(text, folder):
    """Compile a table; return the PDF's text."""
    source = folder / "paper.tex"
    source.write_text(DOCUMENT.format(text), encoding="utf-8")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "-no-shell-escape"]
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


def test_names_mean_nothing_to_latex(board):
    table = pd.DataFrame({"system": NAMES, "rating": -1.5})
    text = latex_table(table, ["named\n\\input{x}", "signature"])
    assert text.startswith("% named \\input{x}\n% signature\n\\begin{tabular}{lr}")
    rows = text.partition("\\midrule\n")[2].partition("\\bottomrule")[0]
    assert rows.count("\\\\\n") == rows.count("& $-$1.50") == len(NAMES)
    assert "\\input" not in rows
    assert not re.search(r"(?<!\\)[#%_]", rows)


def test_a_small_p_is_no_exclamation_mark():
    assert "$<$0.001" in latex_table(pd.DataFrame({"p": ["<0.001"]}))


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
    table = pd.DataFrame({"rank": 1, "system": NAMES, "rating": -1.5})
    printed = compiled(latex_table(table, ["a|b\nc"]), tmp_path)
    if printed is not None:
        assert "root:" not in printed
        assert r"\input" in printed
        assert printed.count("−1.50") == len(NAMES)
