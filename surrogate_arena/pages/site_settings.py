"""What an operator states about a site: its title, license and more."""

from __future__ import annotations

import datetime
import re
from collections.abc import Mapping
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import PydanticCustomError

from arena.data.errors import UsageError, argument
from surrogate.board.settings import check_option_names

MOST_QUESTIONS = 20
"""Questions of a language whose answers are shown."""
WEB_ADDRESS = re.compile(r"(https?://[^\s/]|/)\S*")


def _web_address(address: str) -> str:
    # A link must lead to a page: other schemes, such as javascript:, would run something.
    if address and not WEB_ADDRESS.fullmatch(address):
        raise PydanticCustomError(
            "web_address", "is no address of a page; begin it with https://, http:// or /"
        )
    return address


WebAddress = Annotated[str, AfterValidator(_web_address)]


class PageSettings(BaseModel):
    """What all pages state."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    title: str = Field(default="", description="Title on every page. Default: the arena's name.")
    description: str = Field(default="", description="Text below the headline of the first page.")
    license: str = Field(
        default="", description="License of what is published, named on every page."
    )
    home: WebAddress = Field(default="", description="Address that every page links back to.")
    address: WebAddress = Field(
        default="", description="Address where the pages are served, for links from elsewhere."
    )
    submissions: WebAddress = Field(
        default="",
        description="Where new answers are sent; makes a page on how to submit.",
    )
    questions: int = Field(
        default=MOST_QUESTIONS,
        ge=0,
        description="Questions per language to show answers to; 0 hides questions and answers.",
    )


class SiteSettings(PageSettings):
    """What the pages of a board state and show."""

    organization: str = Field(
        default="", description="Who publishes the board, for records of Every Eval Ever."
    )
    headline: str = Field(default="", description="Headline of the first page, above who is first.")
    date: datetime.date | None = Field(
        default=None, description="Date on every page, such as 2026-11-27."
    )


def chosen_site(settings: SiteSettings | None, options: Mapping[str, object]) -> SiteSettings:
    """Return settings of a site with some options in their place."""
    check_option_names(options, list(SiteSettings.model_fields))
    values = {} if settings is None else settings.model_dump(exclude_unset=True)
    try:
        return SiteSettings.model_validate({**values, **options})
    except ValidationError as error:
        faults = []
        for fault in error.errors():
            reason = fault["msg"][:1].lower() + fault["msg"][1:]
            faults.append(f"{argument(str(fault['loc'][0]))} is {fault['input']!r}: {reason}")
        raise UsageError("; ".join(faults)) from error
