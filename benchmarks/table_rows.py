"""What the rows of each table of figures are: which function measures them, on which arenas."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from board_quality import replication, unseen
from comparison_errors import share_found
from cost_intervals import SIZES, WORLDS, shares_called_cheaper
from coverage_by_design import DESIGNS, coverage
from few_verdicts import few_verdicts
from gaming_mixtures import mixtures
from gate import decisions, refused
from judge_audit import audited
from judge_errors import grouse, memerag, pairs
from judge_preferences import first_board_taus
from judge_scores import PAIR_SCORES, constant, pairs_of_people
from judging_plans import plans, questions
from juries import JURY_COLUMNS, with_jury
from replication import two_judges
from soft_verdicts import replayed
from where_to_look import where_to_look

Cell = Any
"""A text, a number, or a number with its standard error."""


@dataclass(frozen=True)
class Table:
    """A table of figures.

    Attributes:
        columns: Headings.
        rows: Key to what computes a row's cells, given the folder of arenas.
        quick: Key of the row that a test computes again.
    """

    columns: Sequence[str]
    rows: Mapping[str, Callable[[Path], Sequence[Cell]]]
    quick: str


ARENAS = {
    "trec-rag25": ("trec-rag25", None, "trec-rag25 (53)"),
    "faithjudge": ("faithjudge", None, "faithjudge (46)"),
    "nomiracl": ("nomiracl", None, "nomiracl (11 per language)"),
    "rakuda": ("rakuda", None, "rakuda (9)"),
    "crowd-rag": ("crowd-rag", "crowd-gold", "crowd-rag (6), people"),
    "vicuna80": ("vicuna80", "gpt-4", "vicuna80 (8), gpt-4"),
    "mt-bench": ("mt-bench-ko-en", "gpt-4o-mini", "mt-bench-ko-en (6), gpt-4o-mini"),
}
"""Key to an arena's folder, judge, and how it is shown with its number of systems."""
SMALL_ARENAS = {key: ARENAS[key] for key in ("rakuda", "crowd-rag", "vicuna80", "mt-bench")}
"""Where training three surrogates on twenty splits takes less than a minute."""
RECORDED_JUDGES = {
    "gpt-4": ("vicuna80", "gpt-4", "vicuna80, GPT-4"),
    "gpt35": ("vicuna80", "gpt35", "vicuna80, GPT-3.5"),
    "claude": ("vicuna80", "claude", "vicuna80, Claude"),
    "bard": ("vicuna80", "bard", "vicuna80, Bard"),
    "combined": ("crowd-rag", "gpt-4o-combined", "crowd-rag, GPT-4o, all criteria at once"),
    "individual": ("crowd-rag", "gpt-4o-individual", "crowd-rag, GPT-4o, one criterion at a time"),
}
CROWD_RAG_BY_GPT = "crowd-rag (6), GPT-4o, all criteria at once"
NUMBERS = (3, 10)
"""Of judged questions to replicate by."""
WITHOUT_PASSAGES = {
    "rakuda": ("rakuda", "gpt-4", "ja", "rakuda (9), GPT-4"),
    "mt-bench-en": ("mt-bench-ko-en", "gpt-4o-mini", "en", "mt-bench en (6), GPT-4o mini"),
    "mt-bench-ko": ("mt-bench-ko-en", "gpt-4o-mini", "ko", "mt-bench ko (6), GPT-4o mini"),
    "vicuna80": ("vicuna80", "gpt-4", "en", "vicuna80 (8), GPT-4"),
    "people": ("vicuna80", "people", "en", "vicuna80 (9), people"),
}
"""Key to an arena's folder, judge, language, and how they are shown."""
PLANS = {
    "crowd-rag": ("crowd-rag", "gpt-4o-combined", "en", CROWD_RAG_BY_GPT),
    **WITHOUT_PASSAGES,
}


def of_arenas(
    measured: Callable[..., Sequence[Cell]], settings: Mapping[str, Sequence[Any]]
) -> dict[str, Callable[[Path], Sequence[Cell]]]:
    """Return rows of what a function measures: a folder in the arenas, settings, and a label."""

    def row(arenas: Path, values: Sequence[Any]) -> list[Cell]:
        folder, *options, label = values
        return [label, *measured(arenas / folder, *options)]

    return {key: partial(row, values=values) for key, values in settings.items()}


def without_arenas(
    measured: Callable[..., Sequence[Cell]], settings: Mapping[str, Sequence[Any]]
) -> dict[str, Callable[[Path], Sequence[Cell]]]:
    """Return rows of what a function measures without an arena: its settings, and a label."""

    def row(_: Path, values: Sequence[Any]) -> list[Cell]:
        *options, label = values
        return [label, *measured(*options)]

    return {key: partial(row, values=values) for key, values in settings.items()}


TABLES = {
    "unseen": Table(
        [
            *("arena (systems) and judge", "`default`", "`random-forest`", "`linear`"),
            *("`answer_length`", "`default` minus forest", "half of the questions", "ceiling"),
        ],
        of_arenas(unseen, SMALL_ARENAS),
        "crowd-rag",
    ),
    "replication": Table(
        [
            *("arena (systems)", "questions", "verdicts alone", "verdicts and surrogate"),
            *("gain", "inside 90% intervals"),
        ],
        of_arenas(
            replication,
            {
                f"{key}:{number}": (folder, judge, number, label)
                for key, (folder, judge, label) in ARENAS.items()
                for number in NUMBERS
            },
        ),
        "crowd-rag:3",
    ),
    "mixtures": Table(
        ["arena (systems) and judge", "predicted rise", "rise by verdicts", "difference"],
        of_arenas(
            mixtures,
            {
                "rakuda": ("rakuda", "gpt-4", "rakuda (9), GPT-4"),
                "crowd-rag": ("crowd-rag", "gpt-4o-combined", CROWD_RAG_BY_GPT),
                "vicuna80": ("vicuna80", "gpt-4", "vicuna80 (8), GPT-4"),
                "mt-bench": (
                    *("mt-bench-ko-en", "gpt-4o-mini"),
                    "mt-bench-ko-en (6), GPT-4o mini",
                ),
            },
        ),
        "crowd-rag",
    ),
    "pairs": Table(
        ["recorded judge, by people's majority", *PAIR_SCORES],
        of_arenas(pairs_of_people, RECORDED_JUDGES),
        "individual",
    ),
    "constant-judges": Table(
        ["judge", "relevancy", "complete", "useful", "faithful", "accepts", "rejects", "total"],
        without_arenas(
            constant,
            {
                "highest": ("highest", "the highest score for everything"),
                "null": ("null", "null for everything"),
            },
        ),
        "highest",
    ),
    "coverage": Table(
        ["design", "ratings held", "ranks held", "separated"],
        without_arenas(coverage, {name: (name, name) for name in DESIGNS}),
        "ten battles a question",
    ),
    "first-boards": Table(
        ["arena (systems) and judge", "preferences", "consensus alone"],
        of_arenas(first_board_taus, WITHOUT_PASSAGES),
        "vicuna80",
    ),
    "plans": Table(
        [
            "arena (systems) and judge",
            "default",
            "whole questions",
            "random pairs",
            "stops by itself",
        ],
        of_arenas(plans, PLANS),
        "crowd-rag",
    ),
    "few-verdicts": Table(
        ["arena", "ours", "best other", "random pairs", "all verdicts"],
        without_arenas(
            few_verdicts,
            {
                arena: (arena, arena)
                for arena in (
                    *("trec-rag25", "nomiracl", "crowd-rag"),
                    *("mt-bench-ko-en", "rakuda", "vicuna80"),
                )
            },
        ),
        "rakuda",
    ),
    "questions": Table(
        [
            *("arena (systems) and judge", "4 calls per system", "8 calls", "16 calls"),
            *("slope at 8 calls", "inside 90% intervals at 8"),
        ],
        of_arenas(
            questions,
            {
                "nomiracl": (
                    *("nomiracl", "answerability-gold"),
                    "nomiracl (11 per language), labels",
                ),
                "people": ("crowd-rag", "crowd-gold", "crowd-rag (6), people"),
                "gpt-4o": ("crowd-rag", "gpt-4o-combined", CROWD_RAG_BY_GPT),
                "faithjudge": ("faithjudge", "faithjudge-o3-mini", "faithjudge (46), o3-mini"),
                "trec-rag25": ("trec-rag25", "nist-support", "trec-rag25 (53), labels"),
            },
        ),
        "gpt-4o",
    ),
    "soft": Table(
        [
            *("questions", "winners alone", "probabilities as they are"),
            *("at the default temperature", "gain", "held by winners", "held by default"),
        ],
        of_arenas(replayed, {str(n): ("alpacaeval", n, str(n)) for n in (5, 10, 20, 40)}),
        "5",
    ),
    "two-judges": Table(
        [
            *("arena (pairs of judges)", "3 questions", "3 with the other judge", "gain at 3"),
            *("10 questions", "10 with the other judge", "gain at 10"),
        ],
        of_arenas(
            two_judges,
            {
                "crowd-rag": ("crowd-rag", "crowd-rag (6)"),
                "vicuna80": ("vicuna80", "vicuna80 (20)"),
            },
        ),
        "crowd-rag",
    ),
    "audit": Table(
        [
            *("verdicts by", "pairs per system", "honest", "fooling"),
            *("fooling from below the middle", "others beside it"),
        ],
        of_arenas(
            audited,
            {
                "crowd-rag": ("crowd-rag", "crowd-gold", "en", 0.0, "crowd-rag, people"),
                "crowd-rag:30": ("crowd-rag", "crowd-gold", "en", 0.3, "crowd-rag, people, 30%"),
                "vicuna80": ("vicuna80", "people", "en", 0.0, "vicuna80, people"),
                "vicuna80:30": ("vicuna80", "people", "en", 0.3, "vicuna80, people, 30%"),
                "mt-bench": (
                    "mt-bench-ko-en",
                    "gpt-4o-mini",
                    "en",
                    0.0,
                    "mt-bench en, GPT-4o mini",
                ),
                "mt-bench:30": (
                    *("mt-bench-ko-en", "gpt-4o-mini", "en", 0.3),
                    "mt-bench en, GPT-4o mini, 30%",
                ),
            },
        ),
        "crowd-rag",
    ),
    "juries": Table(
        ["judges, reference", "pairs", *JURY_COLUMNS],
        of_arenas(
            with_jury,
            {
                "vicuna80": ("vicuna80", "people", "en", "vicuna80, four judges, people"),
                "mt-bench-en": (
                    *("mt-bench-ko-en", "gpt-4o-mini", "en"),
                    "mt-bench en, five judges, GPT-4o mini",
                ),
                "mt-bench-ko": (
                    *("mt-bench-ko-en", "gpt-4o-mini", "ko"),
                    "mt-bench ko, five judges, GPT-4o mini",
                ),
                "crowd-rag": ("crowd-rag", "crowd-gold", "en", "crowd-rag, two judges, people"),
            },
        ),
        "vicuna80",
    ),
    "nulls": Table(
        ["equal judges", "found or missed", "by the other way"],
        {
            **of_arenas(
                memerag,
                {
                    "memerag": ("../memerag", "macro", 2, "MEMERAG, two judges, macro"),
                    "memerag-fr": ("../memerag", "fr", 2, "MEMERAG, French, two judges"),
                },
            ),
            **without_arenas(grouse, {"grouse": ("GroUSE, 75% of the checks passed",)}),
            **without_arenas(
                pairs,
                {
                    "pairs": (10, 0.5, "pairs, guesses on 10 questions"),
                    "pairs-few-errors": (80, 0.95, "pairs, 95% right on 80 questions"),
                },
            ),
            **without_arenas(
                share_found,
                {
                    "compare": (9, 2, "`compare`, 9 systems in folds, two"),
                    "compare-4": (9, 4, "`compare`, 9 systems in folds, any of four"),
                },
            ),
        },
        "compare",
    ),
    "look": Table(
        [
            *("arena by judge", "random", "trained on the others' verdicts"),
            *("trained minus random", "untrained", "untrained minus random"),
        ],
        of_arenas(
            where_to_look,
            {
                "rakuda": ("rakuda", "gpt-4", "rakuda, GPT-4"),
                "crowd-rag": ("crowd-rag", "crowd-gold", "crowd-rag, people"),
                "vicuna80": ("vicuna80", "people", "vicuna80, people"),
                "mt-bench": ("mt-bench-ko-en", "gpt-4o-mini", "mt-bench-ko-en, GPT-4o mini"),
            },
        ),
        "crowd-rag",
    ),
    "gate": Table(
        ["true difference", "better", "same", "worse", "cannot say", "questions"],
        without_arenas(
            decisions,
            {
                "none": (0.0, "none"),
                "5": (0.05, "5 points"),
                "10": (0.1, "10 points"),
                "20": (0.2, "20 points"),
            },
        ),
        "none",
    ),
    "refusals": Table(
        ["true difference", "refused", "right", "wrong", "cannot say", "wrong without bounds"],
        without_arenas(
            refused,
            {
                "none:2": (0.0, 0.02, "none"),
                "none:10": (0.0, 0.1, "none"),
                "none:50": (0.0, 0.5, "none"),
                "worse:2": (-0.1, 0.02, "10 points worse"),
                "worse:10": (-0.1, 0.1, "10 points worse"),
                "worse:50": (-0.1, 0.5, "10 points worse"),
                "better:50": (0.1, 0.5, "10 points better"),
            },
        ),
        "none:10",
    ),
    "cheaper": Table(
        [
            "costs",
            *(name for size in SIZES for name in (f"{size} questions", f"bootstrap of {size}")),
        ],
        without_arenas(shares_called_cheaper, {name: (name, name) for name in WORLDS}),
        "1 against .5",
    ),
}
