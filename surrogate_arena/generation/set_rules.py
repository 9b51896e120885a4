"""Rules by which an arena is cut down to an evaluation set."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field


class SetRules(BaseModel):
    """Rules of which questions and answers make an evaluation set."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    only_hard: bool = Field(
        default=False,
        description="Leave out questions without a passage labeled not relevant (MIRAGE-Bench, "
        "3.2).",
    )
    at_least: int = Field(
        default=0,
        ge=0,
        description="If a language has fewer hard questions, fill up to this number (MIRAGE-Bench, "
        "footnote 4).",
    )
    least_words: int = Field(
        default=0,
        ge=0,
        description="Leave out questions to which any system gave a shorter answer (MEMERAG, 3.3).",
    )
    questions: int | None = Field(
        default=None, ge=1, description="Questions to draw in each language. Default: all"
    )
    others: bool = Field(default=False, description="Keep the questions not drawn (test split).")
    one_answer: bool = Field(
        default=False,
        description="Keep one answer per question, equally many from each system (MEMERAG, 3.5).",
    )
    seed: int = Field(default=0, ge=0, description="Random seed.")


class SelectSettings(SetRules):
    """Settings of the command ``select``."""

    bm25: int | None = Field(
        default=None,
        ge=1,
        description="Passages to keep for each question, by BM25 (MEMERAG, 3.2).",
    )
    corpus: Path | None = Field(
        default=None,
        description="With bm25, JSONL of docid, title and text to search, or a folder; by default "
        "the question's own passages.",
    )
