"""Prices of models, from a file."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from arena.errors import DataError, UsageError
from arena.llm.usage import Price
from arena.records import validation_problems

_EXAMPLE = '{"gpt-4o": {"tokens_in": 2.5, "tokens_out": 10}}'


class _Price(BaseModel):
    model_config = ConfigDict(extra="forbid")

    tokens_in: float = Field(ge=0, allow_inf_nan=False)
    tokens_out: float = Field(ge=0, allow_inf_nan=False)


_PRICES = TypeAdapter(dict[str, _Price])


def read_prices(path: Path | str) -> dict[str, Price]:
    """Read what models cost.

    Args:
        path: JSON, each model's price per million tokens in any one currency:
            ``{"gpt-4o": {"tokens_in": 2.5, "tokens_out": 10}}``.

    Raises:
        UsageError: If there is no such file.
        DataError: If it holds something else.
    """
    path = Path(path)
    if not path.is_file():
        raise UsageError(f"there is no file of prices at {path}")
    try:
        read = _PRICES.validate_json(path.read_bytes())
    except ValidationError as error:
        problems = validation_problems(error, path.name, None, lambda _: f"write {_EXAMPLE}")
        raise DataError(problems) from error
    return {model: Price(price.tokens_in, price.tokens_out) for model, price in read.items()}
