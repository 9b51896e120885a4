"""``surrogate-arena fit --factors``: what models, retrievers and prompts add to ratings."""

from __future__ import annotations

from pathlib import Path

from surrogate.cli.options import split_names

MOST_SHOWN = 30
ALL = "all"


def rate_factors(arena: Path, by: str, judge: str | None, seed: int, as_json: bool) -> None:
    """Rate what systems are made of, and predict combinations that nobody has built."""
    from arena.data.folder import read_arena
    from surrogate.cli import printing
    from surrogate.learning.posterior.factors import factor_ratings

    chosen = None if by == ALL else split_names(by)
    found = factor_ratings(read_arena(arena), chosen, judge=judge, seed=seed)
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
    title = "What a value adds, in logits, with 90% intervals"
    printing.print_columns(title, found.effects, list(found.effects))
    named = found.combinations.assign(system=found.combinations["system"].fillna("not built"))
    printing.print_columns("Combinations", named.head(MOST_SHOWN), list(named))
    if len(named) > MOST_SHOWN:
        print(f"{len(named) - MOST_SHOWN} more are in --json.")
    print(f"Kendall tau of systems predicted from the others' attributes: {found.tau:.2f}")
    for name, reason in found.skipped.items():
        print(f"Left out: {name} ({reason})")
