"""Records that cross a JSON border."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, StringConstraints

from arena.languages import LANGUAGE_CODE

Text = Annotated[str, StringConstraints(min_length=1)]
LanguageCode = Annotated[str, StringConstraints(pattern=f"^{LANGUAGE_CODE}$")]


class Passage(BaseModel):
    """A retrieved passage of a query.

    Attributes:
        passage_id: What an answer cites, unique within the query.
        text: The passage.
        title: Title of the document, if any.
        relevance: 1 relevant, 0 not relevant, None not judged.
    """

    model_config = ConfigDict(frozen=True, extra="allow")

    passage_id: Text
    text: str
    title: str | None = None
    relevance: Literal[0, 1] | None = None


class ArenaInfo(BaseModel):
    """What ``arena.json`` says of an arena.

    Attributes:
        name: Short name of the arena.
        languages: Language codes in it.
        systems: Systems that may answer and be judged.
        reference_system: System whose answers serve as reference, or None.
        source: Where the data come from.
        note: Anything a reader should know.
    """

    model_config = ConfigDict(frozen=True, extra="allow")

    name: Text
    languages: tuple[LanguageCode, ...]
    systems: tuple[Text, ...]
    reference_system: Text | None = None
    source: str = ""
    note: str = ""
