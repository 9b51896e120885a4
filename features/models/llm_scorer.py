"""An LLM at an OpenAI-compatible endpoint that rates answers; each reply is kept in a store."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from arena.errors import UsageError
from arena.llm.client import complete
from arena.llm.completions import Completion
from arena.llm.open_store import open_store
from arena.llm.settings import Endpoint, ModelSettings
from features.models.options import ModelOptions
from features.models.rating_reply import expected_rating, integer_rating
from features.models.scorer import Item, Scores

if TYPE_CHECKING:
    from arena.llm.store import Store

STORE_VARIABLE = "SURROGATE_ARENA_STORE"
"""Environment variable that says where replies are kept, unless the options do."""

URL_VARIABLE = "OPENAI_BASE_URL"
"""Environment variable that says where models are asked, unless the options do."""

MAX_TOKENS = 512
"""Most tokens of a reply; the rating comes first, then its explanation."""

ALTERNATIVES = 20
"""Log-probabilities asked for: the most that OpenAI gives."""

READERS = MappingProxyType[str, Callable[[Completion, str], float]](
    {"integer": integer_rating, "expected": expected_rating}
)
"""How a rating is read from a reply."""


@dataclass(frozen=True)
class LlmScorer:
    """Rates items of ``features.models.rating_items``, shape (items, 1); NaN where it failed.

    Attributes:
        settings: The model; log-probabilities are asked for where ratings are read from them.
        endpoint: Where it is asked.
        store: Where replies are kept.
    """

    settings: ModelSettings
    endpoint: Endpoint
    store: str

    @property
    def device(self) -> str:
        """``endpoint``: the calls are made by one process, many at a time."""
        return "endpoint"

    @property
    def signature(self) -> str:
        """Model, prompts, settings; as in the store's keys, not where the model is asked."""
        from features.models.rating_prompt import prompt_versions

        settings = self.settings
        return (
            f"llm:{settings.model}|{prompt_versions()}|temperature:{settings.temperature}"
            f"|max_tokens:{settings.max_tokens}|logprobs:{ALTERNATIVES}"
        )

    def score(self, items: Sequence[Item]) -> Scores:
        """Rate items, shape (items, 1); NaN for a rating that failed.

        What failed in passing is asked again when it is scored again; what the model refused, or
        rated in no readable way, is not.

        Raises:
            UsageError: If the endpoint or the store cannot be used.
            MissingDependencyError: If the extra ``llm`` is not installed.
        """
        scores = np.full((len(items), 1), np.nan, dtype=np.float32)
        groups: dict[tuple[str, str], list[int]] = {}
        for place, (prompt, mode, *_) in enumerate(items):
            groups.setdefault((prompt, mode), []).append(place)
        with open_store(self.store) as store:
            for (prompt, mode), places in groups.items():
                chosen = [items[place] for place in places]
                scores[places, 0] = self._rate(chosen, prompt, mode, store)
        return scores

    def _rate(self, items: Iterable[Item], prompt: str, mode: str, store: Store) -> list[float]:
        """Rate items of one prompt, read in one way."""
        from features.models.rating_prompt import rating_prompt

        asked, read = self.settings, READERS[mode]
        if mode == "expected":
            asked = replace(asked, logprobs=ALTERNATIVES)
        run = complete(
            map(rating_prompt, items),
            asked,
            endpoint=self.endpoint,
            store=store,
            parse=lambda completion: read(completion, prompt),
        )
        with run:
            return [np.nan if outcome.value is None else outcome.value for outcome in run]


def load_llm(model: str, options: ModelOptions) -> LlmScorer:
    """Make ready to ask a model; nothing is asked yet.

    Args:
        model: Its name at the endpoint.
        options: Its ``endpoint`` and ``store``, if they are not None; else the environment
            variables ``OPENAI_BASE_URL`` and ``SURROGATE_ARENA_STORE`` say where.

    Raises:
        UsageError: If nothing says where replies are to be kept, or the address is none.
    """
    store = options.store or os.environ.get(STORE_VARIABLE)
    if not store:
        raise UsageError(
            "ratings by an LLM need a place that keeps the replies: name an SQLite file or a "
            f"postgresql:// URL by ModelOptions(store=...) or by the variable {STORE_VARIABLE}"
        )
    settings = ModelSettings(model, max_tokens=MAX_TOKENS)
    return LlmScorer(settings, options.endpoint or _endpoint_of_environment(), store)


def _endpoint_of_environment() -> Endpoint:
    url = os.environ.get(URL_VARIABLE)
    return Endpoint(url) if url else Endpoint()
