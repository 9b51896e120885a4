"""Documents of this project, and the code that they show."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def blocks(path, language):
    return blocks_of(path.read_text(encoding="utf-8"), language)


def blocks_of(text, language):
    return re.findall(rf"```{language}\n(.*?)```", text, flags=re.DOTALL)
