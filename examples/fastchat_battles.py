"""Turn FastChat's files, such as MT-Bench's, into battles that ``import lmarena`` reads.

    python examples/fastchat_battles.py [FOLDER] [--out battles.jsonl]
    surrogate-arena import lmarena battles.jsonl --out my-arena

FOLDER holds ``question.jsonl``, ``model_answer/*.jsonl`` and ``model_judgment/*_pair.jsonl``. Each
row of the last has two games, with the models on either side.
"""

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

GAMES = (("g1_winner", "model_1", "model_2"), ("g2_winner", "model_2", "model_1"))


def main() -> None:
    """Write the battles of a folder."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", nargs="?", type=Path, default=Path())
    parser.add_argument("--out", type=Path, default=Path("battles.jsonl"))
    options = parser.parse_args()
    lines = [json.dumps(battle) for battle in battles(options.folder)]
    options.out.write_text("\n".join(lines), encoding="utf-8")


def battles(folder: Path) -> Iterator[dict[str, Any]]:
    """Yield two battles for each judgment on a pair."""
    questions = {row["question_id"]: row["turns"] for row in rows(folder, "question.jsonl")}
    answers = {
        (row["question_id"], row["model_id"]): row["choices"][0]["turns"]
        for row in rows(folder, "model_answer/*.jsonl")
    }
    for row in rows(folder, "model_judgment/*_pair.jsonl"):
        question = row["question_id"]
        for winner, model_a, model_b in GAMES:
            battle = {"question_id": question, "turn": row["turn"], "judge": row["judge"][0]}
            for side, field in (("a", model_a), ("b", model_b)):
                model = row[field]
                battle[f"model_{side}"] = model
                turns = conversation(questions[question], answers[question, model])
                battle[f"conversation_{side}"] = turns
            # The winner is the name of one of the two fields, or "tie" or "error".
            battle["winner"] = row.get(row[winner], row[winner])
            yield battle


def conversation(asked: list[str], answered: list[str]) -> list[dict[str, str]]:
    """Return the turns of user and assistant in their order."""
    turns = []
    for question, answer in zip(asked, answered, strict=False):
        turns.append({"role": "user", "content": question})
        turns.append({"role": "assistant", "content": answer})
    return turns


def rows(folder: Path, pattern: str) -> Iterator[dict[str, Any]]:
    """Yield the rows of every file that matches."""
    for path in sorted(folder.glob(pattern)):
        for line in path.read_text(encoding="utf-8").strip().split("\n"):
            yield json.loads(line)


if __name__ == "__main__":
    main()
