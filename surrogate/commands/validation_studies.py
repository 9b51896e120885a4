"""Protocols of ``surrogate-arena validate`` that compare many validations in one table."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

    from arena import Arena
    from surrogate.validation.arranged import Study

IMPORTANCES = "importances"

STUDIES: Mapping[str, str] = {
    "ablation": "Unseen systems ranked by part of the features (Kendall tau, 95% interval over "
    "systems; difference from all features)",
    IMPORTANCES: "What the ranking rests on ({}, share of the surrogate's decisions; 95% intervals "
    "over tournaments)",
    "learning-curve": "Unseen systems ranked after learning from part of the arena (Kendall tau, "
    "95% interval over systems)",
}
"""Name of a study to the title of its table; that of importances has a place for their kinds."""

_MOST_COLUMNS = 10
"""Wider tables show the two ends of an interval in one column."""

_KINDS: Mapping[str, str] = {
    "permutation": "tau of unseen systems lost by permutation",
    "shap": "share of the mean size of Shapley values",
}


def run_study(
    name: str,
    arena: Arena,
    model: str,
    shared: Mapping[str, Any],
    repeats: int | None,
    kinds: Sequence[str] | None = None,
) -> Study:
    """Run one of ``STUDIES``.

    Args:
        name: Name of the study.
        arena: The arena.
        model: Name of a surrogate.
        shared: Arguments that all protocols take.
        repeats: How often to split the systems; None for the study's own number.
        kinds: Kinds of importances; None for the default.
    """
    from surrogate.commands.progress import progress_bar
    from surrogate.validation.ablations import ablate
    from surrogate.validation.importances import importances
    from surrogate.validation.learning_curves import learning_curves

    studies: dict[str, Callable[..., Study]] = {
        "ablation": ablate,
        IMPORTANCES: importances,
        "learning-curve": learning_curves,
    }
    given = {} if repeats is None else {"repeats": repeats}
    chosen = {} if kinds is None else {"kinds": kinds}
    with progress_bar() as progress:
        return studies[name](arena, model, **shared, **given, **chosen, progress=progress)


def study_title(name: str, study: Study) -> str:
    """Return the title of a study's table."""
    return STUDIES[name].format(", ".join(_KINDS[kind] for kind in _KINDS if kind in study.table))


def print_study(title: str, study: Any, as_json: bool) -> None:  # noqa: ANN401 - has table, signature
    """Print a study's table and the settings that reproduce it."""
    from surrogate.commands import printing

    if as_json:
        rows = printing.records(study.table)
        printing.print_json({"table": rows, "signature": study.signature})
        return
    wide = study.table.shape[1] > _MOST_COLUMNS
    shown = _with_spans(study.table) if wide else study.table
    printing.print_columns(title, shown, list(shown))
    print(f"Signature: {study.signature}")


def _with_spans(table: pd.DataFrame) -> pd.DataFrame:
    """Replace each pair of columns ``_low`` and ``_high`` by one."""
    from surrogate.commands.printing import span

    shown = {}
    for name in table.columns:
        whole = name.removesuffix("_low")
        if whole != name:
            bounds = zip(table[name], table[f"{whole}_high"], strict=True)
            shown[f"{whole} 95%"] = [span(low, high, " to ") for low, high in bounds]
        elif not name.endswith("_high"):
            shown[name] = table[name]
    return table.assign(**shown)[list(shown)]
