"""Turn Arena-Hard's files into battles that ``import lmarena`` reads.

    python examples/arena_hard_battles.py [FOLDER] [--out battles.jsonl]
    surrogate-arena import lmarena battles.jsonl --out my-arena

FOLDER holds ``question.jsonl``, ``model_answer/*.jsonl`` and ``model_judgment/*/*.jsonl``. The
import prints the option that makes strong verdicts count three times, as in Arena-Hard.
"""

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any


def main() -> None:
    """Write the battles of a folder."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", nargs="?", type=Path, default=Path())
    parser.add_argument("--out", type=Path, default=Path("battles.jsonl"))
    options = parser.parse_args()
    lines = [json.dumps(battle) for battle in battles(options.folder)]
    options.out.write_text("\n".join(lines), encoding="utf-8")


def battles(folder: Path) -> Iterator[dict[str, Any]]:
    """Yield a battle for each game of a judgment."""
    prompts = {row["uid"]: row["prompt"] for row in rows(folder, "question.jsonl")}
    answers = {
        (row["uid"], row["model"]): row["messages"][-1]["content"]["answer"]
        for row in rows(folder, "model_answer/*.jsonl")
    }
    for row in rows(folder, "model_judgment/*/*.jsonl"):
        question = row["uid"]
        # The baseline is on side A in the first game, and on side B in the second.
        sides = (row["baseline"], row["model"])
        for game in row["games"]:
            battle = {"question_id": question, "prompt": prompts[question], "judge": row["judge"]}
            for side, model in zip("ab", sides, strict=True):
                battle[f"model_{side}"] = model
                battle[f"response_{side}"] = answers[question, model]
            battle["winner"] = game["score"]
            yield battle
            sides = sides[::-1]


def rows(folder: Path, pattern: str) -> Iterator[dict[str, Any]]:
    """Yield the rows of every file that matches."""
    for path in sorted(folder.glob(pattern)):
        for line in path.read_text(encoding="utf-8").strip().split("\n"):
            yield json.loads(line)


if __name__ == "__main__":
    main()
