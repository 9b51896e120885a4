"""A digest of what the features of new answers are computed against."""

from __future__ import annotations

import hashlib
import json

import pandas as pd

from arena.folder import Arena


def fingerprint(arena: Arena) -> str:
    """Digest an arena's questions, passages and reference answers.

    Returns:
        The same 16 hexadecimal digits whatever the order of rows.
    """
    reference = arena.answers[arena.answers["system"] == arena.info.reference_system]
    digest = hashlib.sha256(repr(arena.info.reference_system).encode())
    for table in (arena.queries, reference):
        for line in sorted(_lines(table)):
            digest.update(line.encode())
    return digest.hexdigest()[:16]


def _lines(table: pd.DataFrame) -> list[str]:
    columns = sorted(set(table.columns) & {"language", "query_id", "query", "passages", "answer"})
    records = table[columns].to_dict(orient="records")
    return [json.dumps(record, sort_keys=True, ensure_ascii=True) for record in records]
