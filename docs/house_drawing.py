"""The drawing of the packages in CONTRIBUTING.md, made from the import contracts.

``python docs/house_drawing.py`` prints it; a test compares it with what the guide shows.
"""

from __future__ import annotations

import ast
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGES = ("surrogate_arena", "surrogate", "features", "arena")
RING = frozenset({"arena/llm", "arena/judging", "features/models"})


def drawing() -> str:
    """Draw every folder under its package, from the roof down, with what it is for."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = project["tool"]["importlinter"]["contracts"]
    floors = {item["containers"][0]: item["layers"] for item in contracts if "containers" in item}
    lines: list[str] = []
    for package in PACKAGES:
        lines.append(f"{package}/")
        for floor in floors.get(package, _folders(package)):
            for folder in floor.replace(":", "|").split("|"):
                lines.append(_line_of(package, folder.strip()))
    return "\n".join(lines)


def _folders(package: str) -> list[str]:
    return sorted(path.parent.name for path in (ROOT / package).glob("*/__init__.py"))


def _line_of(package: str, folder: str) -> str:
    module = ast.parse((ROOT / package / folder / "__init__.py").read_text(encoding="utf-8"))
    purpose = (ast.get_docstring(module) or "").splitlines()[0].rstrip(".")
    mark = "  (ring)" if f"{package}/{folder}" in RING else ""
    return f"  {folder + '/':14}{purpose}{mark}"


if __name__ == "__main__":
    print(drawing())
