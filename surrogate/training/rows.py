"""Training sets as chats: rows of messages, what was kept, what was left out and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal

import pandas as pd
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from arena.data.errors import DataError, Problem, UsageError
from arena.data.rows import read_rows, write_rows
from arena.data.schema import validation_problems
from arena.generation.questions import is_drawn
from arena.llm.settings import Prompt
from arena.text.prompts import Trimmer

ALL_LANGUAGES = ""
"""Language of what has none."""
COUNTS = ("language", "questions", "candidates", "kept", "prompt_tokens", "reply_tokens")
LEFT_OUT = ("language", "reason", "count")

_HINT = "write one JSON object a line: {'messages': [{'role': …, 'content': …}, …]}"

Text = Annotated[str, Field(min_length=1)]


class ChatMessage(BaseModel):
    """One message of a chat."""

    model_config = ConfigDict(strict=True, extra="ignore", frozen=True)

    role: Literal["system", "developer", "user", "assistant"]
    content: Text


class ChatRow(BaseModel):
    """One line of a training set: a chat whose last message, the assistant's, is learned.

    Attributes:
        messages: In order; the last one is the assistant's, and there is one before it.
        language: Of the question; empty where it is not known.
    """

    model_config = ConfigDict(strict=True, extra="ignore", frozen=True)

    messages: list[ChatMessage] = Field(min_length=2)
    language: str = ALL_LANGUAGES

    @property
    def reply(self) -> str:
        """What is learned."""
        return self.messages[-1].content


def read_chat_rows(path: Path | str) -> list[ChatRow]:
    """Read a training set.

    Args:
        path: JSONL or Parquet with ``messages``, as ``trainset`` writes it, and trl reads it.

    Raises:
        UsageError: If there is no such file, or it holds pairs to prefer (``chosen``) instead.
        DataError: With every problem: file, line, field, value and hint.
    """
    rows = read_rows(Path(path))
    if "chosen" in rows.table and "messages" not in rows.table:
        raise UsageError(
            f"{path} holds pairs of which one is preferred, which DPO and reward models learn "
            "from (trl's DPOTrainer, RewardTrainer); give a set of chats"
        )
    problems: list[Problem] = list(rows.problems)
    read: list[ChatRow] = []
    for line, record in zip(rows.lines, rows.table.to_dict(orient="records"), strict=True):
        given = {str(name): value for name, value in record.items() if value is not None}
        try:
            row = ChatRow.model_validate(given)
        except ValidationError as error:
            problems += validation_problems(error, rows.source, int(line), lambda _: _HINT)
            continue
        if row.messages[-1].role != "assistant":
            role, fault = row.messages[-1].role, "is the last role; it should be assistant's"
            problems.append(Problem(rows.source, int(line), "messages", role, fault, _HINT))
        read.append(row)
    if not read and not problems:
        problems = [Problem(rows.source, None, None, None, "holds no chats", _HINT)]
    if problems:
        raise DataError(sorted(problems, key=lambda problem: problem.line or 0))
    return read


@dataclass(frozen=True)
class TrainExample:
    """A chat to be learned, of one question.

    Attributes:
        key: Language and id of the question.
        prompt: What is asked.
        reply: What is learned.
        notes: Further columns of the row, such as the system that answered.
    """

    key: tuple[str, str]
    prompt: Prompt
    reply: str
    notes: Mapping[str, Any] = field(default_factory=dict)

    def record(self) -> dict[str, Any]:
        """Return the row as it is written."""
        language, query_id = self.key
        return {**self._chat(), "language": language, "query_id": query_id, **self.notes}

    def _chat(self) -> dict[str, Any]:
        return {"messages": [*self._asked(), *_said(self.reply)]}

    def _asked(self) -> list[dict[str, str]]:
        return [{"role": each.role, "content": each.content} for each in self.prompt.messages]


@dataclass(frozen=True)
class PreferenceExample(TrainExample):
    """A reply that is to be preferred to another: ``prompt, chosen, rejected`` (trl's format).

    Attributes:
        rejected: The other one.
    """

    rejected: str = ""

    def _chat(self) -> dict[str, Any]:
        other = _said(self.rejected)
        return {"prompt": self._asked(), "chosen": _said(self.reply), "rejected": other}


def _said(reply: str) -> list[dict[str, str]]:
    return [{"role": "assistant", "content": reply}]


@dataclass
class Sieve:
    """Collects examples, and counts by language what is left out and why.

    Attributes:
        kept: The examples, in the order they came.
        candidates: How many there were to choose from, by language.
        left_out: How many were left out, by language and reason.
    """

    kept: list[TrainExample] = field(default_factory=list)
    candidates: Counter[str] = field(default_factory=Counter)
    left_out: Counter[tuple[str, str]] = field(default_factory=Counter)

    def take(self, example: TrainExample) -> None:
        """Keep an example."""
        self.candidates[example.key[0]] += 1
        self.kept.append(example)

    def drop(self, language: str, reason: str, count: int = 1) -> None:
        """Leave something out."""
        self.candidates[language] += count
        self.left_out[language, reason] += count

    def keep_only(self, keep: Callable[[Sequence[TrainExample]], set[int]], reason: str) -> None:
        """Leave kept examples out again, by their places."""
        places = keep(self.kept)
        for place, example in enumerate(self.kept):
            if place not in places:
                self.left_out[example.key[0], reason] += 1
        self.kept = [example for place, example in enumerate(self.kept) if place in places]


@dataclass(frozen=True)
class TrainSet:
    """A training set, and rows of questions that are kept out of it.

    Attributes:
        rows: What to train on: ``messages`` (or ``prompt, chosen, rejected``) and further
            columns.
        unseen: Rows of the other questions, to measure with; empty where all are trained on.
        counts: Columns ``COUNTS``, a row a language: questions that rows are of, candidates, rows
            kept (trained on and unseen), and mean tokens.
        left_out: Columns ``LEFT_OUT``.
        scores: Of grouse: how often which score is taught; None of others.
    """

    rows: pd.DataFrame
    unseen: pd.DataFrame
    counts: pd.DataFrame
    left_out: pd.DataFrame
    scores: pd.DataFrame | None = None


def make_train_set(
    sieve: Sieve,
    queries: pd.DataFrame,
    questions: int | None = None,
    seed: int = 0,
    trimmer: Trimmer | None = None,
) -> TrainSet:
    """Put a training set together, split by question.

    Args:
        sieve: Examples and what was left out.
        queries: ``language, query_id, query`` of all questions.
        questions: How many questions of each language to train on, those that ``select
            --questions`` draws with the same seed; the others are unseen. None trains on all.
        seed: Seed of the draw.
        trimmer: Counts tokens; by default four bytes are one.

    Raises:
        UsageError: If nothing is left to train on.
    """
    drawn = _drawn(queries, questions, seed)
    parts: tuple[list[TrainExample], list[TrainExample]] = ([], [])
    for example in sieve.kept:
        parts[example.key not in drawn].append(example)
    if not parts[0]:
        raise UsageError(f"nothing is left to train on; left out: {_reasons(sieve.left_out)}")
    rows, unseen = (pd.DataFrame([each.record() for each in part]) for part in parts)
    left = [(*place, count) for place, count in sorted(sieve.left_out.items())]
    return TrainSet(
        rows,
        unseen,
        pd.DataFrame(_counts(sieve, trimmer or Trimmer()), columns=list(COUNTS)),
        pd.DataFrame(left, columns=list(LEFT_OUT)),
    )


def check_unseen(queries: pd.DataFrame, questions: int | None, seed: int) -> None:
    """Check, before anything is asked, that questions are left to measure with.

    Args:
        queries: ``language, query_id, query`` of all questions.
        questions: How many of each language to train on; None for all.
        seed: Seed of the draw.

    Raises:
        UsageError: If none is left.
    """
    if len(_drawn(queries, questions, seed)) == len(queries):
        raise UsageError(
            "all questions are trained on, so none is unseen; train on some (`questions`)"
        )


def write_train_set(made: TrainSet, out: Path, unseen: Path | None) -> None:
    """Write a training set, and the rows of unseen questions, if a file is given for them.

    Raises:
        UsageError: If a folder is absent, a format unknown, or no row is of an unseen question.
    """
    write_rows(made.rows, out)
    if unseen is not None and made.unseen.empty:
        raise UsageError(f"no row is of an unseen question, so {unseen} was not written")
    if unseen is not None:
        write_rows(made.unseen, unseen)


def _drawn(queries: pd.DataFrame, questions: int | None, seed: int) -> set[tuple[str, str]]:
    chosen = queries if questions is None else queries[is_drawn(queries, questions, seed)]
    return set(zip(chosen["language"], chosen["query_id"], strict=True))


def _reasons(left_out: Mapping[tuple[str, str], int]) -> str:
    by_reason: Counter[str] = Counter()
    for (_, reason), count in left_out.items():
        by_reason[reason] += count
    return ", ".join(f"{count} {reason}" for reason, count in by_reason.items()) or "nothing"


def _counts(sieve: Sieve, trimmer: Trimmer) -> Iterator[tuple[object, ...]]:
    for language in sorted(sieve.candidates):
        of_language = [each for each in sieve.kept if each.key[0] == language]
        yield (
            language,
            len({each.key for each in of_language}),
            sieve.candidates[language],
            len(of_language),
            _mean(trimmer.count(_asked(each.prompt)) for each in of_language),
            _mean(trimmer.count(each.reply) for each in of_language),
        )


def _asked(prompt: Prompt) -> str:
    return "\n".join(message.content for message in prompt.messages)


def _mean(counts: Iterable[int]) -> float:
    numbers = list(counts)
    return round(sum(numbers) / len(numbers), 1) if numbers else float("nan")
