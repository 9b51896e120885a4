"""Notebooks are stored with what they print, and run."""

import ast
import json
import re
import subprocess
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[2]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
MOST_CHARACTERS = 400_000
OURS = {"arena", "features", "surrogate", "surrogate_arena"}

RUN = """
import os, sys
import nbformat
from nbclient import NotebookClient

def printed(book):
    return "".join(output.get("text") or output["data"]["text/plain"] for cell in book.cells
                   for output in cell.get("outputs", []))

os.environ["PYTHONWARNINGS"] = "ignore"  # stored outputs hold none
book = nbformat.read(sys.argv[1], as_version=4)
stored = printed(book)
NotebookClient(book, timeout=1200, kernel_name="python3").execute()
assert printed(book) == stored, printed(book)
figures = sum("image/png" in output.get("data", {}) for cell in book.cells
              for output in cell.get("outputs", []))
print(figures)
"""


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_outputs_are_stored_without_errors_or_paths_of_a_machine(notebook):
    text = notebook.read_text(encoding="utf-8")
    assert len(text) < MOST_CHARACTERS
    assert not re.search(r"/(?:tmp|home|root|work)/", text)
    code = [cell for cell in json.loads(text)["cells"] if cell["cell_type"] == "code"]
    assert [cell["execution_count"] for cell in code] == [*range(1, len(code) + 1)]
    outputs = [output for cell in code for output in cell["outputs"]]
    assert outputs
    assert {output["output_type"] for output in outputs} <= {
        "stream",
        "execute_result",
        "display_data",
    }
    assert not [output for output in outputs if output.get("name") == "stderr"]


@pytest.mark.slow
def test_a_plain_install_and_the_extra_have_all_that_notebooks_import():
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    project = tomllib.loads(text)["project"]
    extra = project["optional-dependencies"]["notebooks"]
    required = {Requirement(text).name for text in (*project["dependencies"], *extra)}
    assert {"nbclient", "ipykernel"} <= required  # of jupyter execute
    providers = packages_distributions()
    for notebook in NOTEBOOKS:
        book = json.loads(notebook.read_text(encoding="utf-8"))
        for cell in book["cells"]:
            code = cell["source"] if cell["cell_type"] == "code" else []
            lines = [line for line in code if not line.startswith("%")]  # of IPython
            for node in ast.walk(ast.parse("".join(lines))):
                names = [getattr(node, "module", None) or ""] * isinstance(node, ast.ImportFrom)
                if isinstance(node, ast.Import):
                    names = [alias.name for alias in node.names]
                for package in {name.partition(".")[0] for name in names}:
                    is_known = package in sys.stdlib_module_names or package in OURS
                    assert is_known or required & set(providers[package]), (notebook, package)


@pytest.mark.slow
@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_print_what_is_stored_with_them(notebook, tmp_path):
    pytest.importorskip("nbclient", reason="needs the extra test")
    done = subprocess.run(
        [sys.executable, "-c", RUN, str(notebook)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert int(done.stdout.splitlines()[-1]) >= 1
