"""Settings of a model, from what the options of a command say."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from arena.llm import ModelSettings


def model_settings(model: str, temperature: float, max_tokens: int, body: str) -> ModelSettings:
    """Return the settings of a model.

    Args:
        model: Its name at the endpoint.
        temperature: Sampling temperature; below 0, none is sent.
        max_tokens: Most tokens of a reply; not sent where the body limits them.
        body: Further fields of the request, as JSON.

    Raises:
        UsageError: If the body is no JSON object, or a setting cannot be used.
    """
    from arena import UsageError
    from arena.llm import ModelSettings

    try:
        further = json.loads(body)
    except ValueError as error:
        raise UsageError(f"--body is no JSON: {error}") from error
    if not isinstance(further, dict):
        raise UsageError('--body is no JSON object; write such as {"top_p": 0.9}')
    return ModelSettings(
        model,
        temperature=None if temperature < 0 else temperature,
        max_tokens=None if "max_completion_tokens" in further else max_tokens,
        extra_body=further,
    )
