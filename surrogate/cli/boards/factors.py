"""``surrogate-arena fit --factors``: what models, retrievers and prompts add to ratings."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from surrogate.cli.options import split_names

if TYPE_CHECKING:
    from surrogate.learning.posterior.factors import FactorRatings

MOST_SHOWN = 30
ALL = "all"


def rate_factors(
    arena: Path, by: str, judge: str | None, topic: str | None, seed: int, as_json: bool
) -> None:
    """Rate what systems are made of, and predict combinations that nobody has built."""
    from arena.data.folder import read_arena
    from surrogate.cli import printing
    from surrogate.learning.posterior.factors import factor_ratings

    chosen = None if by == ALL else split_names(by)
    found = factor_ratings(read_arena(arena), chosen, judge=judge, topic=topic, seed=seed)
    if as_json:
        printing.print_json(
            {
                "effects": found.effects,
                "combinations": found.combinations,
                "tau_unseen": found.tau,
                "skipped": found.skipped,
            }
        )
        return
    _print_factors(found)


def _print_factors(found: FactorRatings) -> None:
    from surrogate.cli import printing

    for name, effects in found.effects.groupby("slice", sort=False):
        shown = effects.drop(columns="slice")
        printing.print_columns(
            f"What a value adds, in logits, with 90% intervals ({name})", shown, list(shown)
        )
        rows = found.combinations[found.combinations["slice"] == name].drop(columns="slice")
        named = rows.assign(system=rows["system"].fillna("not built"))
        printing.print_columns("Combinations", named.head(MOST_SHOWN), list(named))
        if len(rows) > MOST_SHOWN:
            print(f"{len(rows) - MOST_SHOWN} more are in --json.")
        tau = found.tau[str(name)]
        print(f"Kendall tau of systems predicted from the others' attributes: {tau:.2f}")
    for name, reason in found.skipped.items():
        print(f"Left out: {name} ({reason})")
