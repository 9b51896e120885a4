"""Features without a model load nothing that runs one, and do without the package that does."""

import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]

MEASURE = """
import sys
from arena import sample_arena
from features import extract
table = extract(sample_arena("nomiracl").select(["en"]), "default")
assert table["answer_length"].notna().any()
outside = ("features.models", "arena.llm", "arena.judging", "surrogate", "surrogate_arena")
print(*[name for name in sys.modules if name.startswith(outside)])
"""

WITHOUT_MODELS = """
from arena import UsageError
from features import FEATURES, GROUPS, Feature, Reading, model, parse_features
from features.measures.registry import models_for
assert "bleu" in FEATURES and "nli_neutral" not in FEATURES
assert "default" in GROUPS and not {"paper", "llm", "nuggets"} & {*GROUPS}
own = Feature("own", "", "", (), len, (model("some/model"),), reading=Reading("embedder"))
for refused in (
    lambda: parse_features("nli_neutral"),
    lambda: parse_features("paper"),
    lambda: models_for([own]),
):
    try:
        refused()
    except UsageError as error:
        assert "features.models" in str(error), error
    else:
        raise AssertionError
"""


def run(program, folder):
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False, cwd=folder
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_measuring_by_default_loads_no_model_and_no_command():
    assert run(MEASURE, ROOT).split() == []


def test_without_the_package_of_models_the_other_features_are_there(tmp_path):
    ignored = shutil.ignore_patterns("__pycache__", "models")
    for package in ("arena", "features"):
        shutil.copytree(ROOT / package, tmp_path / package, ignore=ignored)
    run(WITHOUT_MODELS, tmp_path)
