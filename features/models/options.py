"""How models are run."""

from __future__ import annotations

from dataclasses import dataclass

from arena.llm.settings import Endpoint


@dataclass(frozen=True)
class ModelOptions:
    """How models are run; on a processor, scores do not depend on it.

    Attributes:
        device: ``auto``, ``cpu``, ``cuda`` or ``mps``; ``auto`` takes a GPU where there is one.
        batch_size: Sequences that go through a model at once on a GPU. A processor takes one at a
            time: the last bits of a row depend on the number of rows beside it.
        download: Whether a model that is not on this machine may be fetched from the hub.
        endpoint: Where LLMs are asked; None for what ``OPENAI_BASE_URL`` says.
        store: SQLite file or ``postgresql://`` URL that keeps the replies of LLMs; None for what
            ``SURROGATE_ARENA_STORE`` says.
    """

    device: str = "auto"
    batch_size: int = 32
    download: bool = False
    endpoint: Endpoint | None = None
    store: str | None = None
