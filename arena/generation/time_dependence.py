"""Questions whose right answer changes with time (MEMERAG, appendix G.1)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypedDict

import pandas as pd

from arena.generation.named_language import named_language
from arena.generation.questions import question_keys
from arena.judging.comparisons import QuestionKey
from arena.llm.client import complete
from arena.llm.completions import Completion
from arena.llm.failures import UnparsableError
from arena.llm.outcomes import Outcome
from arena.llm.prompts import Prompt
from arena.llm.settings import Endpoint, ModelSettings
from arena.llm.usage import Usage
from arena.prompts.templates import packaged_prompt

if TYPE_CHECKING:
    from arena.llm.store import Store

TIME_DEPENDENT = "time_dependent"
UNDETERMINED = "time_dependence_"
"""Before the reason why nobody knows whether a question is time-dependent."""

LABEL_COLUMNS = ["query_id", "language", "label", "rationale", "failure", "detail", "key"]

_TEMPLATE = "time-dependent.v1"
_VARIABLES = ("question", "language")
_LABEL = re.compile(r"<label>([^<]{0,40})</label>", re.IGNORECASE)
_RATIONALE = re.compile(r"<rationale>(.*?)</rationale>", re.IGNORECASE | re.DOTALL)
_LABELS = ("yes", "no")


@dataclass(frozen=True)
class TimeFilter:
    """Who tells whether a question is time-dependent.

    Attributes:
        settings: The model; the paper took Llama 3 70B. Systems that are to be compared need the
            same one, or they answer other questions.
        endpoint: Where it is asked.
    """

    settings: ModelSettings
    endpoint: Endpoint = field(default_factory=Endpoint)


@dataclass(frozen=True)
class TimeDependence:
    """What was told of questions.

    Attributes:
        labels: Columns ``query_id, language, label`` (``yes``, ``no``, or missing where there is
            a failure), ``rationale, failure, detail, key``; a row a question, in their order.
        usage: What was asked.
    """

    labels: pd.DataFrame
    usage: Usage

    def keys(self, label: str) -> set[QuestionKey]:
        """Return the questions of a label."""
        return set(question_keys(self.labels[self.labels["label"] == label]))


class StoredLabel(TypedDict):
    """What is read from a reply, as it is kept in the store."""

    label: str
    rationale: str


def time_dependence(
    queries: pd.DataFrame,
    time_filter: TimeFilter,
    store: Store,
    *,
    max_calls: int | None = None,
    progress: Callable[[Usage], None] | None = None,
) -> TimeDependence:
    """Let an LLM tell which questions need the present date, current affairs or news.

    Args:
        queries: Columns ``query_id, language, query``.
        time_filter: Who tells.
        store: Where replies are and go.
        max_calls: Most prompts to send.
        progress: Called with the counts before each reply.

    Raises:
        UsageError: If the endpoint or the settings cannot be used.
        MissingDependencyError: If the extra ``llm`` is not installed.
    """
    run = complete(
        time_prompts(queries),
        time_filter.settings,
        endpoint=time_filter.endpoint,
        store=store,
        parse=read_label,
        max_calls=max_calls,
        progress=progress,
    )
    with run:
        rows = [
            (query_id, language, *_read(outcome))
            for (language, query_id), outcome in zip(question_keys(queries), run, strict=True)
        ]
    return TimeDependence(pd.DataFrame(rows, columns=LABEL_COLUMNS, dtype=object), run.usage)


def time_prompts(queries: pd.DataFrame) -> Iterator[Prompt]:
    """Yield the prompts that ask whether questions are time-dependent."""
    template = packaged_prompt("arena.generation", _TEMPLATE, _VARIABLES)
    pairs: Iterable[tuple[str, str]] = zip(queries["language"], queries["query"], strict=True)
    for language, question in pairs:
        text = template.fill({"question": question, "language": named_language(language)})
        yield Prompt.of(text, version=template.version)


def read_label(completion: Completion) -> StoredLabel:
    """Read the last ``<label>`` of a reply.

    Raises:
        UnparsableError: If there is none, or it is neither yes nor no.
    """
    text = completion.text or ""
    labels = _LABEL.findall(text)
    if not labels:
        raise UnparsableError("the reply has no <label>; expected yes or no in it")
    label = labels[-1].strip(" \t\r\n'\".").casefold()
    if label not in _LABELS:
        raise UnparsableError(f"the label is {label!r}; expected yes or no")
    rationales = _RATIONALE.findall(text)
    return StoredLabel(label=label, rationale=rationales[-1].strip() if rationales else "")


def _read(outcome: Outcome[StoredLabel]) -> tuple[object, ...]:
    value = outcome.value
    if value is None:
        return None, "", outcome.failure, outcome.detail, outcome.key
    return value["label"], value["rationale"], None, "", outcome.key
