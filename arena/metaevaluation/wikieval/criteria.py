"""The three qualities that WikiEval is about, and the file each has."""

from __future__ import annotations

from types import MappingProxyType
from typing import Literal, get_args

Criterion = Literal["faithfulness", "answer_relevance", "context_relevance"]
CRITERIA: tuple[Criterion, ...] = get_args(Criterion)

FAITHFULNESS: Literal["faithfulness"] = "faithfulness"
ANSWER_RELEVANCE: Literal["answer_relevance"] = "answer_relevance"
CONTEXT_RELEVANCE: Literal["context_relevance"] = "context_relevance"

FILES = MappingProxyType[Criterion, str](
    {FAITHFULNESS: "ff.csv", ANSWER_RELEVANCE: "ar.csv", CONTEXT_RELEVANCE: "cr.csv"}
)

COMPARED = MappingProxyType[Criterion, str](
    {FAITHFULNESS: "answer", ANSWER_RELEVANCE: "answer", CONTEXT_RELEVANCE: "context"}
)
"""The column that holds the texts that are compared."""
