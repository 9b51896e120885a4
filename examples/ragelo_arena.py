"""Turn RAGElo's tables into an arena folder.

    python examples/ragelo_arena.py [FOLDER] [--out my-arena]

FOLDER holds ``queries.csv``, ``answers.csv``, ``documents.csv`` and
``pairwise_answers_evaluations.csv``.
"""

import argparse
from pathlib import Path

import pandas as pd

from arena import Arena, write_arena

NAMES = {"qid": "query_id", "agent": "system", "agent_a": "system_a", "agent_b": "system_b"}
"""RAGElo's names of columns to those of an arena."""


def main() -> None:
    """Write the arena of a folder."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", nargs="?", type=Path, default=Path())
    parser.add_argument("--out", type=Path, default=Path("my-arena"))
    options = parser.parse_args()
    queries = rows(options.folder / "queries.csv")
    games = rows(options.folder / "pairwise_answers_evaluations.csv")
    documents = rows(options.folder / "documents.csv")
    passages = documents.groupby("query_id")["document"].agg(list)
    queries["passages"] = queries["query_id"].map(passages)
    games["winner"] = games["answer"].map({"A": "a", "B": "b", "C": "tie"})
    arena = Arena.from_frames(
        queries,
        rows(options.folder / "answers.csv"),
        games,
        language="en",
        judge="ragelo",
        name="ragelo",
    )
    write_arena(arena, options.out)


def rows(path: Path) -> pd.DataFrame:
    """Read a table, with the names of an arena."""
    return pd.read_csv(path, skipinitialspace=True).rename(columns=NAMES)


if __name__ == "__main__":
    main()
