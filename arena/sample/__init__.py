"""The samples that come with the package; each folder holds its attribution.

``crowd-rag``, the demo: long answers with citations by six systems, judged by GPT-4o and by people.
``nomiracl``: short answers by 11 LLMs in 4 languages, with verdicts from human labels
(``benchmarks/sample.py`` draws it).
"""

from importlib.resources import files
from pathlib import Path
from typing import Literal

from arena.data.arena import Arena
from arena.data.folder import read_arena

SampleName = Literal["crowd-rag", "nomiracl"]


def sample_folder(name: SampleName = "crowd-rag") -> Path:
    """Return an arena folder that comes with the package."""
    return Path(str(files(__name__) / name.replace("-", "_")))


def sample_arena(name: SampleName = "crowd-rag") -> Arena:
    """Read a sample.

    ``crowd-rag``: 6 systems, 38 English questions with 20 passages each. ``nomiracl``: 11 LLMs, 4
    languages, 40 questions each, all pairs judged.

    Args:
        name: One of these.

    Returns:
        The arena, with judgments.

    Examples:
        >>> sample_arena().counts()
          language  questions  systems  answers  judgments
        0       en         38        6      228       1291
    """
    return read_arena(sample_folder(name))
