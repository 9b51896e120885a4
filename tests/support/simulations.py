"""Simulated arenas whose true ranking is known: parts of the package's, or of a small one.

The small arena holds other draws of the same systems: 10 questions in English and Swahili.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import pandas as pd

from arena import Arena, read_arena
from arena.simulation import simulated_arena, simulated_folder, simulated_truth

SMALL = Path(__file__).parent / "simulated"


@dataclass(frozen=True)
class Simulated:
    """An arena, and what is true of it: ``language, system, quality, rank``."""

    arena: Arena
    truth: pd.DataFrame


@cache
def _whole(folder: Path) -> Arena:
    return read_arena(folder)


def small_simulation(
    systems: Sequence[int] = range(12),
    languages: Sequence[str] = ("en", "sw"),
    questions: int = 10,
    folder: Path = SMALL,
) -> Simulated:
    """Take some systems, by their places, and the first questions; the best is the reference."""
    simulated = _whole(folder)
    names = [simulated.info.systems[index] for index in systems]
    queries = simulated.queries[simulated.queries["language"].isin(languages)]
    queries = queries.groupby("language", sort=False).head(questions).reset_index(drop=True)
    keys = pd.MultiIndex.from_frame(queries[["language", "query_id"]])

    def kept(table: pd.DataFrame, *sides: str) -> pd.DataFrame:
        is_asked = pd.MultiIndex.from_frame(table[["language", "query_id"]]).isin(keys)
        is_in = is_asked & table[list(sides)].isin(names).all(axis=1)
        return table[is_in].reset_index(drop=True)

    truth = simulated_truth()
    truth = truth[truth["system"].isin(names) & truth["language"].isin(languages)]
    ranks = truth.groupby("language")["quality"].rank(ascending=False, method="min")
    truth = truth.assign(rank=ranks.astype("int64")).reset_index(drop=True)
    best = str(truth.groupby("system")["quality"].mean().idxmax())
    update = {"systems": tuple(names), "languages": tuple(languages), "reference_system": best}
    arena = replace(
        simulated,
        info=simulated.info.model_copy(update=update),
        queries=queries,
        answers=kept(simulated.answers, "system"),
        judgments=kept(simulated.judgments, "system_a", "system_b"),
    )
    return Simulated(arena, truth)


def simulated_part(
    systems: Sequence[int] = range(12), languages: Sequence[str] = ("en",), questions: int = 24
) -> Simulated:
    """Take a part of the simulated arena that comes with the package."""
    return small_simulation(systems, languages, questions, simulated_folder())


def full_arena() -> Arena:
    """Two languages, two judges, attributes of systems, and ratings, also of no system here."""
    simulated = simulated_arena().select(["en", "es"])
    systems = simulated.info.systems
    rated = [
        (language, system)
        for language in ("es", "en")
        for system in (systems[0], systems[1], "else")
    ]
    published = pd.DataFrame(rated, columns=["language", "system"]).assign(
        judge="published", rating=0.5, standard_error=0.1
    )
    second = simulated.judgments.iloc[::7].assign(judge="second")
    return replace(
        simulated,
        judgments=pd.concat([simulated.judgments, second], ignore_index=True),
        published_ratings=published,
        attributes=pd.DataFrame({"system": systems, "model": [f"m-{name}" for name in systems]}),
    )
