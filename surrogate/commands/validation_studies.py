"""Protocols of ``surrogate-arena validate`` that compare many validations in one table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from arena import Arena
    from surrogate.validation.arranged import Study

STUDIES: Mapping[str, str] = {
    "ablation": "Unseen systems ranked by part of the features (Kendall tau, 95% interval over "
    "systems; difference from all features)",
    "importances": "What the ranking of unseen systems rests on (tau lost by permutation, share "
    "of a forest's splits; 95% intervals over tournaments)",
    "learning-curve": "Unseen systems ranked after learning from part of the arena (Kendall tau, "
    "95% interval over systems)",
}
"""Name of a study to the title of its table."""


def run_study(
    name: str, arena: Arena, model: str, shared: Mapping[str, Any], repeats: int | None
) -> Study:
    """Run one of ``STUDIES``.

    Args:
        name: Name of the study.
        arena: The arena.
        model: Name of a surrogate.
        shared: Arguments that all protocols take.
        repeats: How often to split the systems; None for the study's own number.
    """
    from surrogate.commands.progress import progress_bar
    from surrogate.validation.ablations import ablate
    from surrogate.validation.importances import importances
    from surrogate.validation.learning_curves import learning_curves

    studies: dict[str, Callable[..., Study]] = {
        "ablation": ablate,
        "importances": importances,
        "learning-curve": learning_curves,
    }
    times = {} if repeats is None else {"repeats": repeats}
    with progress_bar() as progress:
        return studies[name](arena, model, **shared, **times, progress=progress)


def print_study(title: str, study: Any, as_json: bool) -> None:  # noqa: ANN401 - has table, signature
    """Print a study's table and the settings that reproduce it."""
    from surrogate.commands import printing

    if as_json:
        rows = printing.records(study.table)
        printing.print_json({"table": rows, "signature": study.signature})
        return
    printing.print_columns(title, study.table, list(study.table))
    print(f"Signature: {study.signature}")
