"""An arena's answers as records that other tools evaluate: Ragas, DeepEval.

The names are those of the tools' own schemas: Ragas' ``SingleTurnSample`` (a list of them is an
``EvaluationDataset``), and the keys that DeepEval's ``add_test_cases_from_json_file`` reads.
``import csv`` reads both back.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from arena.data.arena import Arena
from arena.data.errors import checked_choice
from arena.data.rows import plain_records
from arena.data.schema import ANSWER_KEY, OWN_PASSAGES, QUESTION_KEY

RECORD_FORMATS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "ragas": ("user_input", "response", "retrieved_contexts", "reference"),
        "deepeval": ("input", "actual_output", "retrieval_context", "expected_output"),
    }
)
"""Names of question, answer, passages, reference; beside them stand those of ``ANSWER_KEY``."""


def answer_records(arena: Arena, form: str, systems: Sequence[str] = ()) -> list[dict[str, Any]]:
    """Return an arena's answers as records, with the passages that each answer was given.

    Args:
        arena: Its reference answers become those of the records.
        form: One of ``RECORD_FORMATS``.
        systems: Whose answers; of all but the reference system by default.

    Returns:
        A record an answer, as the tables have them; fields without a value are left out.

    Raises:
        UsageError: If there is no such format or system.
    """
    names = RECORD_FORMATS[checked_choice(form, RECORD_FORMATS, "format of records")]
    for system in systems:
        checked_choice(system, arena.info.systems, "system")
    reference = arena.info.reference_system
    wanted = systems or [system for system in arena.info.systems if system != reference]
    every = arena.answers
    right = arena.references.set_index(QUESTION_KEY)["answer"]
    asked = {(row["language"], row["query_id"]): row for row in plain_records(arena.queries)}
    records = []
    for answer in plain_records(every[every["system"].isin(wanted)]):
        key = (answer["language"], answer["query_id"])
        own, question = answer.get(OWN_PASSAGES), asked[key]
        passages = own if isinstance(own, list) else question["passages"]
        texts = [passage["text"] for passage in passages]
        values = (question["query"], answer["answer"], texts, right.get(key))
        named = zip(names, values, strict=True)
        told = {name: value for name, value in named if value not in (None, [])}
        records.append({**told, **{name: answer[name] for name in ANSWER_KEY}})
    return records


def records_text(records: Sequence[Mapping[str, Any]], form: str) -> str:
    """Write records as their tool reads them: lines of JSON for Ragas, an array for DeepEval."""
    if form == "deepeval":
        return json.dumps(list(records), ensure_ascii=False, indent=1) + "\n"
    return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)
