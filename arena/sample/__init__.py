"""The sample that comes with the package: real questions, answers and human labels of NoMIRACL.

Its folder holds the attribution and how the part was drawn (``benchmarks/sample.py`` draws it).
"""

from importlib.resources import files
from pathlib import Path

from arena.data.arena import Arena
from arena.data.folder import read_arena


def sample_folder() -> Path:
    """Return the arena folder that comes with the package."""
    return Path(str(files(__name__) / "nomiracl"))


def sample_arena() -> Arena:
    """Read the sample: 11 LLMs, 4 languages, 40 questions each, all pairs judged."""
    return read_arena(sample_folder())
