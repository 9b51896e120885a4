"""Draw the sample of NoMIRACL, and measure over many draws what few verdicts on a sample tell.

    python benchmarks/sample.py demo [--draws 20] [--questions 2 4 6]
    python benchmarks/sample.py draw NOMIRACL [--out arena/sample/nomiracl]
    python benchmarks/sample.py measure NOMIRACL [--draws 20] [--questions 3 6 10 20]

NOMIRACL is the arena of all its questions. The sample holds the four most spoken of its languages
(Ethnologue, 2025) and 40 questions of each, drawn by their content with seed 0, as this does:
``surrogate-arena select NOMIRACL --languages en,es,hi,zh --questions 40``. Labels of passages are
left out, because the verdicts were derived from them.

``demo`` and ``measure`` (of the sample of NoMIRACL) repeat the demo with other seeds: other
questions are judged, another system is not.
Each draw compares ratings, and the verdicts alone, with the verdicts on the questions that were not
judged. ``all verdicts`` compares with verdicts on all questions, of which those judged are a part.
The ceiling of ``measure`` is the agreement of NOMIRACL's verdicts on questions that the sample does
not hold.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

import pandas as pd

from arena import Arena, ArenaInfo, read_arena, write_arena
from arena.sample import sample_arena, sample_folder
from features import extract
from features.measures.choosing import parse_features
from surrogate import build_board
from surrogate_arena.commands.demo import JUDGE
from surrogate_arena.commands.hidden_verdicts import (
    HiddenVerdicts,
    compare_with_hidden,
    compare_with_truth,
    hide_verdicts,
    rated_systems,
)
from surrogate_arena.generation import SetRules, evaluation_set

LANGUAGES = ("en", "es", "hi", "zh")
QUESTIONS = 40
SOURCE = (
    "NoMIRACL (Thakur et al., 2024), baseline outputs of github.com/project-miracl/nomiracl, "
    "Apache-2.0; passages from Wikipedia, CC BY-SA 3.0; see ATTRIBUTION.md"
)
NOTE = (
    "Real outputs of 11 LLMs to real questions with 10 passages each. They were asked whether the "
    "passages answer the question, so answers are short. Judgments are derived from human labels: "
    "the system that is right about its question's label (answerable or not) wins; if both or "
    "neither are, it is a tie."
)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("what", choices=["demo", "draw", "measure"])
    parser.add_argument("nomiracl", type=Path, nargs="?")
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--questions", type=int, nargs="+", default=[3, 6, 10, 20])
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    if options.what == "draw":
        drawn = drawn_sample(read_arena(options.nomiracl))
        write_arena(drawn, options.out or sample_folder("nomiracl"))
        return
    elsewhere = None
    if options.what == "demo":
        sample = sample_arena().select(judges=[JUDGE])
    else:
        sample = sample_arena("nomiracl")
        elsewhere = rated_systems(unsampled_judgments(read_arena(options.nomiracl), sample))
    for questions in options.questions:
        draws = measure_draws(sample, options.draws, questions, elsewhere)
        print(f"\n{questions} judged questions of each language")
        print_means(draws)


def drawn_sample(nomiracl: Arena) -> Arena:
    """Keep some languages and questions, without labels of passages."""
    sample, _ = evaluation_set(nomiracl.select(LANGUAGES), SetRules(questions=QUESTIONS))
    passages = [
        [passage | {"relevance": None} for passage in passages]
        for passages in sample.queries["passages"]
    ]
    info = ArenaInfo(
        name="nomiracl-sample",
        languages=sample.info.languages,
        systems=sample.info.systems,
        reference_system=sample.info.reference_system,
        source=SOURCE,
        note=NOTE,
    )
    return replace(sample, info=info, queries=sample.queries.assign(passages=passages))


def measure_draws(
    sample: Arena, n_draws: int, questions: int, elsewhere: pd.DataFrame | None
) -> pd.DataFrame:
    """Repeat the demo; one row per draw, means over languages.

    ``elsewhere`` holds ratings by verdicts on questions outside of the sample.
    """
    table = extract(sample, parse_features("default"), n_jobs=1)
    rows = []
    for seed in range(n_draws):
        hidden = hide_verdicts(sample, questions, seed)
        board = build_board(hidden.shown, feature_table=table)
        row: dict[str, object] = {"seed": seed, "unjudged": hidden.unjudged}
        row |= compared(board.ratings, hidden, sample)
        if elsewhere is not None:
            row["ceiling"] = ceiling(hidden, elsewhere)
        unjudged_ranks = compare_with_hidden(board, hidden).places
        rank_errors = unjudged_ranks["place"] - unjudged_ranks["hidden_rank"]
        row["rank_error"] = rank_errors.abs().mean()
        row["inside"] = unjudged_ranks["is_inside"].mean()
        row["unranked"] = unjudged_ranks["place"].isna().mean()
        rows.append(row)
    return pd.DataFrame(rows)


def unsampled_judgments(nomiracl: Arena, sample: Arena) -> pd.DataFrame:
    """Return the judgments of questions in the sample's languages that it does not hold."""
    judgments = nomiracl.judgments[nomiracl.judgments["language"].isin(sample.info.languages)]
    return judgments[~judgments["query_id"].isin(sample.queries["query_id"])]


def compared(ratings: pd.DataFrame, hidden: HiddenVerdicts, sample: Arena) -> dict[str, float]:
    """Compare ratings with the hidden verdicts, and with all."""
    row = {}
    for name, judgments in (("hidden", hidden.hidden), ("all", sample.judgments)):
        by_verdicts = rated_systems(judgments)
        by_verdicts = by_verdicts[by_verdicts["system"] != hidden.unjudged]
        macro = compare_with_truth(ratings, by_verdicts).iloc[-1]
        row[f"board, {name} verdicts"] = macro["rating"]
        row[f"few verdicts alone, {name} verdicts"] = macro["verdicts_alone"]
        row[f"gain, {name} verdicts"] = macro["rating"] - macro["verdicts_alone"]
    return row


def ceiling(hidden: HiddenVerdicts, elsewhere: pd.DataFrame) -> float:
    """Compare ratings by verdicts on questions outside of the sample with the hidden verdicts."""
    is_judged = elsewhere["system"] != hidden.unjudged
    ratings = elsewhere[is_judged].rename(columns={"quality": "rating"})
    ratings = ratings.assign(arena_rating=ratings["rating"], surrogate_rating=ratings["rating"])
    return float(compare_with_truth(ratings, rated_systems(hidden.hidden)).iloc[-1]["rating"])


def print_means(draws: pd.DataFrame) -> None:
    """Print means over draws with their standard errors."""
    values = draws.drop(columns=["seed", "unjudged"])
    print(pd.DataFrame({"mean": values.mean(), "standard error": values.sem()}).round(3))
    gains = draws["gain, hidden verdicts"]
    print(f"gain above 0 in {(gains > 0).sum()} of {len(gains)} draws")


if __name__ == "__main__":
    main()
