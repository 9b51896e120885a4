"""Plans of judging are files of their own: without one, the others judge as before."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import arena

DRAW = """
from arena import sample_arena
from arena.judging import JudgingSettings, judge, likely_pairs
settings = JudgingSettings(model="m", questions=2, **{options})
((_, pairs),) = likely_pairs(sample_arena("nomiracl"), settings, None)
print(len(pairs))
"""
OPTIONS = {"fixed": {"pairs": "all"}, "adaptive": {}}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("deleted", "left"),
    [("escalation", "fixed"), ("panel", "adaptive"), ("adaptive", "fixed")],
)
def test_a_plan_can_be_deleted(tmp_path, deleted, left):
    package = shutil.copytree(Path(arena.__file__).parent, tmp_path / "arena")
    (package / "judging" / "plans" / f"{deleted}.py").unlink()
    code = DRAW.format(options=OPTIONS[left])
    run = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env={}, capture_output=True, text=True
    )
    assert run.returncode == 0, run.stderr
    assert int(run.stdout) > 0
