"""Families of systems: of the models that they are made of."""

from __future__ import annotations

from collections.abc import Iterable

import pandas as pd

from arena.quality.families import model_families


def families_of_systems(
    systems: Iterable[str], attributes: pd.DataFrame | None
) -> dict[str, frozenset[str]]:
    """Return the families of systems, by the attribute ``family`` or by name."""
    records = {} if attributes is None else attributes.set_index("system").to_dict(orient="index")
    families: dict[str, frozenset[str]] = {}
    for system in systems:
        record = records.get(system, {})
        family = record.get("family")
        model = record.get("model")
        # Attributes that are missing are NaN, not text.
        if isinstance(family, str):
            families[system] = frozenset({family})
        else:
            families[system] = model_families(model if isinstance(model, str) else system)
    return families
