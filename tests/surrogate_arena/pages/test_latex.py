"""LaTeX of boards compiles with pdflatex, and prints what the board says."""

import re
import shutil
import subprocess

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from surrogate_arena.pages.exports import ALL, OVERALL, export_text, latex_table, latex_text

NAMES = (
    *("a-b--c---d", "``quoted'' 'x' \"y\"", "50% & #1 $x_1^2$ ~^\\{}", "<a|b>", "-0.5", "?`!`,,"),
    *(
        "Łódź ÅÄÖ øßœ",
        "Đặng «Þór» ąęį",
        "モデル-大",
        "نموذج",
        "e\u0301\u0300",
        "\u202etxt",
        "😀 🇩🇪",
    ),
    *("null\x00 \x1b[31m \x7f\x80\xa0", "\\input{/etc/passwd}", "−1 ∞ – — …", "\\end{table}"),
)
SET_BY_PDFLATEX = "".join(map(chr, range(0xA1, 0x180))) + "‘’“”•€™"
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


@given(st.text())
def test_a_text_holds_no_character_that_pdflatex_does_not_know(text):
    shown = latex_text(text)
    outside = re.sub(r"\\otherscript\{[^{}]*\}\{[^{}]*\}", "", shown)
    assert [mark for mark in outside if not mark.isascii() and mark not in SET_BY_PDFLATEX] == []
    assert not re.search(r"(?<!\\)[#%&_~^]", outside)
    unescaped = re.sub(r"\\[{}]", "", outside)
    assert unescaped.count("{") == unescaped.count("}")
    assert "--" not in outside
    assert latex_text(text, is_plain=True).count("\\otherscript") == 0


def test_texts_of_other_scripts_are_there_for_engines_that_set_them():
    assert latex_text("モデル-大 a") == (
        r"\otherscript{モデル}{U+30E2 U+30C7 U+30EB}-\otherscript{大}{U+5927} a"
    )
    assert latex_text("gpt-4 Łódź") == "gpt-4 Łódź"


@pytest.mark.slow
@pytest.mark.parametrize("part", [OVERALL, ALL, "en"])
def test_a_board_compiles(pdflatex, board, part, tmp_path):
    printed = compiled(export_text(board, "latex", part), tmp_path)
    log = (tmp_path / "paper.log").read_text(errors="replace")
    # A page of LaTeX's article has room for the table; a line of the list of tables may be long.
    assert re.findall(r"Overfull .* lines (?!1--1\b).*", log) == []
    if printed is not None and part == "en":
        rows = board.ratings[board.ratings["language"] == "en"]
        assert (rows["rating"] < 0).any()
        for rating in rows["rating"]:
            assert f"{rating:z.2f}".replace("-", "−") in printed.replace("- ", "-")


@pytest.mark.slow
def test_hostile_names_compile_and_nothing_they_say_is_run(pdflatex, tabled_hostile, tmp_path):
    compiled(export_text(tabled_hostile, "latex", ALL), tmp_path)
    table = pd.DataFrame({"system": NAMES, "rating": -1.5})
    title = f"{tabled_hostile.summary.arena} モデル"
    printed = compiled(latex_table(table, title, NAMES[8], "a|b\nc"), tmp_path)
    if printed is not None:
        assert "root:" not in printed
        assert r"\input" in printed
        assert "U+30E2" in printed
        assert printed.count("−1.50") == len(NAMES)


@pytest.mark.slow
@settings(max_examples=20, deadline=None)
@given(st.lists(st.text(min_size=1, max_size=30), min_size=20, max_size=20))
def test_names_of_any_characters_compile(pdflatex, tmp_path_factory, names):
    table = pd.DataFrame({"system": names, "rating": 0.5})
    compiled(latex_table(table, "any", names[0], ""), tmp_path_factory.mktemp("any"))


@pytest.mark.slow
@pytest.mark.parametrize("longest", [12, 30, 44, 52])
def test_tables_fit_the_page_whatever_their_names(pdflatex, longest, tmp_path):
    names = [
        f"{'organization/model-7b-instruct-v0.3-long-name-of-a-run'[: longest - 2]}-{n}"
        for n in range(9)
    ]
    table = pd.DataFrame(
        {
            "rank": range(1, 10),
            "rank interval": "10–12",
            "system": names,
            "rating": -1.25,
            "90% interval": "[−1.44, −0.75]",
        }
    )
    text = latex_table(table, "Leaderboard", "judge", "")
    compiled(text, tmp_path)
    assert "Overfull" not in (tmp_path / "paper.log").read_text(errors="replace")
    assert (r"\small" in text) == (longest < 40)
