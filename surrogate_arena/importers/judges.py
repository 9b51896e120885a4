"""Who judged: the judge and the voter of a row, however its columns say so."""

from __future__ import annotations

import re
from collections.abc import Mapping

from arena.data.cells import whole_digits
from arena.data.judge_names import PERSON, UNKNOWN_JUDGE, is_person, names_one_judge
from arena.data.schema import VOTER
from arena.data.types import Record
from surrogate_arena.importers.cells import decoded, is_missing_cell
from surrogate_arena.importers.columns import bare_column

JUDGE_SOURCES = ("source", "judge_type", "annotator_type", "label_source", "judged_by")
"""Columns that may say that people judged, where no judge is named."""
SOME_PERSON = "human"
"""The judge where people judged who are not named."""

_PEOPLE_COLUMNS = ("rater", "labeler", "labeller", "assessor", "reviewer")
"""Names for a column of judges that hold names of people, unless they are those of models."""
_MODEL_NAME = re.compile(
    r"gpt|claude|llama|gemini|gemma|palm|bard|qwen|[mx]istral|mixtral|deepseek|command-?r|grok|glm"
    r"|\bo[134]\b|llm|judge|model",
    re.IGNORECASE,
)
_PERSON_ID = re.compile(
    r"[^@\s]+@[^@\s]+\.[A-Za-z]{2,}"  # an address
    r"|A(?=[0-9A-Z]*[0-9])[0-9A-Z]{11,14}"  # a worker of Mechanical Turk
    r"|[0-9a-f]{24}"  # a participant of Prolific
    r"|[0-9a-f]{32}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"  # a hash, a UUID
)
_NAME_FIELDS = ("name", "model", "model_name", "model_id", "judge", "id")
"""Where a judge that is a record has its name, the best first."""
_PROMPT_NAME = re.compile(r"(?:pair|single)(?:-[\w-]+)?")
"""Names of FastChat's prompts, which follow the name of the judge."""


def judge_and_voter(
    record: Record,
    names: Mapping[str, str],
    *,
    judge: str | None = None,
    default: str | None = None,
    reads_sources: bool = True,
) -> tuple[object, str | None]:
    """Return who judged, and the voter where that is another name.

    Args:
        record: A row.
        names: Field to its column.
        judge: Judge of all rows, whatever they say.
        default: Judge of rows that name none.
        reads_sources: Whether columns such as ``source`` may say that people judged.

    Returns:
        The judge, which may be at fault; and the voter, None for those who have no name.
    """
    voter = _name(record.get(names[VOTER])) if VOTER in names else None
    is_some_voter = voter is not None and not names_one_judge(voter)
    if is_some_voter:
        voter = None  # a word such as "user", which is no name
    if judge is not None:
        return judge, voter
    cell = record.get(names["judge"]) if "judge" in names else None
    if not is_missing_cell(cell) and cell not in ([], {}):
        name = _name(cell)
        if name is None:
            return cell, voter
        judge = _person_or_model(name, bare_column(names["judge"]))
        return judge, None if voter in (name, judge) else voter
    if default is not None:
        return default, voter
    # Without a judge, the voter judged: a person, unless its name is a model's.
    if voter is not None:
        is_marked = is_person(voter) or _MODEL_NAME.search(voter)
        return voter if is_marked else f"{PERSON}{voter}", None
    if is_some_voter:
        return SOME_PERSON, None
    if not reads_sources:
        return UNKNOWN_JUDGE, None
    for column in JUDGE_SOURCES:
        source = _name(record.get(column))
        if source is not None and is_person(source):
            return SOME_PERSON, None
    return UNKNOWN_JUDGE, None


def _person_or_model(name: str, column: str) -> str:
    """Return the name of a judge, marked as that of a person where it can only be one."""
    if is_person(name) or not names_one_judge(name):
        return name
    # Crowds are anonymized as numbers, addresses or hashes; models never are.
    is_number = name.replace("-", "").isdigit()
    is_person_id = _PERSON_ID.fullmatch(name) is not None
    in_people_column = column in _PEOPLE_COLUMNS and not _MODEL_NAME.search(name)
    return f"{PERSON}{name}" if is_number or is_person_id or in_people_column else name


def _name(value: object) -> str | None:
    """Return the name that a cell holds as a text, a number, a record or a list of names."""
    opened = decoded(value) if isinstance(value, str) else value
    if isinstance(opened, dict):
        for field in _NAME_FIELDS:
            name = opened.get(field)
            if isinstance(name, str) and not is_missing_cell(name):
                return name.strip()
        return None
    if isinstance(opened, list):
        return _joint_name(opened)
    if is_missing_cell(value):
        return None
    if isinstance(value, str):
        return value.strip()
    return whole_digits(value) or None


def _joint_name(parts: list[object]) -> str | None:
    """Return the name of several judges as one."""
    texts = [part.strip() for part in parts if isinstance(part, str) and not is_missing_cell(part)]
    if len(texts) != len(parts) or not texts:
        return None
    # FastChat writes the judge and its prompt as a pair: the prompt is no judge.
    judges = [text for text in texts[1:] if not _PROMPT_NAME.fullmatch(text)]
    return "+".join([texts[0], *judges])
