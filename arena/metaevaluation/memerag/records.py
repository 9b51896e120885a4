"""One line of a MEMERAG file: a question, its passages, and an answer labelled by sentence."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationInfo
from pydantic_core import PydanticCustomError

from arena.metaevaluation.memerag.labels import LABELS, canonical_label


def _filled(value: object) -> object:
    if isinstance(value, str) and not value.strip():
        raise PydanticCustomError("empty", "is empty")
    return value


def _id(value: object) -> object:
    """Ids are numbers in some of the files and texts in others."""
    is_number = isinstance(value, int) and not isinstance(value, bool)
    return str(value) if is_number else value


def _label(value: object, info: ValidationInfo) -> object:
    field = str(info.field_name)
    if isinstance(value, list):
        raise PydanticCustomError("several", "holds several labels, one is wanted")
    if not isinstance(value, str):
        return value
    label = canonical_label(field, value)
    if label is None:
        known = ", ".join(LABELS[field])
        raise PydanticCustomError("label", "is no label of this field", {"known": known})
    return label


Text = Annotated[str, BeforeValidator(_filled)]
Label = Annotated[str, BeforeValidator(_label)]


class ContextPassage(BaseModel):
    """A passage that the answer was written from."""

    model_config = ConfigDict(strict=True, extra="ignore")

    text: Text


class LabelledSentence(BaseModel):
    """A sentence of an answer with its human labels."""

    model_config = ConfigDict(strict=True, extra="ignore")

    sentence_id: int
    sentence: Text
    factuality: Label
    fine_grained_factuality: Label | None = None
    relevance: Label | None = None
    comments: str | None = None


class LabelledAnswer(BaseModel):
    """One line: an answer to one question."""

    model_config = ConfigDict(strict=True, extra="ignore")

    query_id: Annotated[Text, BeforeValidator(_id)]
    query: Text
    context: list[ContextPassage] = Field(min_length=1)
    answer: list[LabelledSentence] = Field(min_length=1)
