"""Tools whose records are read: Promptfoo, Inspect, Langfuse, LangSmith.

Where fields stand follows what each tool writes: Promptfoo's ``EvaluateResult`` (``eval -o
results.json``, or ``.jsonl``), Inspect's ``EvalLog`` (``--log-format json``, or ``inspect log
convert``), Langfuse's exports of traces from its pages or its API, and LangSmith's runs
(``list_runs``, exports) or an experiment's ``to_pandas``.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from arena.adapters.records.nested import Record, at, number_of
from arena.adapters.records.tool_records import FILE, Found, Tool

_QUESTIONS = ("question", "query", "user_input", "user_query", "input", "prompt", "messages")
_ANSWERS = ("answer", "output", "response", "result", "generation", "text", "messages")
_CONTEXTS = ("contexts", "retrieved_contexts", "context", "documents", "passages", "sources")
_REFERENCES = ("reference", "reference_answer", "expected_answer", "expected", "ground_truth")
_SYSTEMS = ("system", "model", "model_name", "ls_model_name")

MOST_PROMPT_LABEL = 60


def _under(root: str, names: tuple[str, ...], itself: bool = True) -> tuple[str, ...]:
    return (*(f"{root}.{name}" for name in names), *((root,) if itself else ()))


def _fields(**paths: tuple[str, ...]) -> Mapping[str, tuple[str, ...]]:
    return MappingProxyType(paths)


def _named(record: Record, path: str) -> Mapping[str, object]:
    found = at(record, path)
    return found if isinstance(found, Mapping) else {}


def _promptfoo_scores(record: Record) -> Mapping[str, object]:
    """Return the named metrics of a result, and its score over all assertions as ``promptfoo``."""
    whole = {} if record.get("score") is None else {"promptfoo": record["score"]}
    return {**whole, **_named(record, "namedScores")}


def _promptfoo_systems(records: list[Found]) -> list[Found]:
    """Name each result's system: its provider, and its prompt where a provider has several."""
    told: dict[str, set[str]] = {}
    for _, record in records:
        told.setdefault(_provider(record) or "", set()).add(str(record.get("promptIdx")))
    several = any(len(indices) > 1 for indices in told.values())
    return [
        (place, {**record, "system": _promptfoo_system(record, several)})
        for place, record in records
    ]


def _provider(record: Record) -> str | None:
    provider = record.get("provider")
    if isinstance(provider, Mapping):
        provider = provider.get("label") or provider.get("id")
    return provider if isinstance(provider, str) and provider else None


def _promptfoo_system(record: Record, with_prompt: bool) -> str | None:
    provider = _provider(record)
    if provider is None or not with_prompt:
        return provider
    label = at(record, "prompt.label")
    is_short = isinstance(label, str) and len(label) <= MOST_PROMPT_LABEL and "\n" not in label
    index = record.get("promptIdx")
    number = index + 1 if isinstance(index, int) else index
    return f"{provider} | {label if is_short and '{{' not in str(label) else f'prompt {number}'}"


def _promptfoo_failure(record: Record) -> str | None:
    failed = at(record, "response.error") or (
        record.get("error") if record.get("failureReason") == 2 else None
    )
    return "its call failed" if failed else None


PROMPTFOO = Tool(
    name="promptfoo",
    lists=("results.results", "results"),
    fields=_fields(
        question=_under("vars", _QUESTIONS, itself=False),
        system=("system",),
        answer=("response.output",),
        passages=(*_under("vars", _CONTEXTS, itself=False), *_under("metadata", _CONTEXTS, False)),
        reference=_under("vars", _REFERENCES, itself=False),
        query_id=("testCase.metadata.query_id", "testCase.metadata.id"),
        language=("testCase.metadata.language",),
    ),
    scores=_promptfoo_scores,
    hint="write results with 'promptfoo eval -o results.json'",
    left_out=_promptfoo_failure,
    prepared=_promptfoo_systems,
)


def _inspect_scores(record: Record) -> Mapping[str, object]:
    """Return the value of each scorer; one that gives several gives a score each."""
    scores: dict[str, object] = {}
    for scorer, score in _named(record, "scores").items():
        value = score.get("value") if isinstance(score, Mapping) else None
        if isinstance(value, Mapping):
            scores |= {f"{scorer}.{part}": mark for part, mark in value.items()}
        else:
            scores[scorer] = value
    return scores


INSPECT = Tool(
    name="inspect",
    lists=("samples",),
    fields=_fields(
        question=("metadata.question", "input"),
        system=("eval.metadata.system", "eval.model"),
        answer=("output.completion", "output"),
        passages=_under("metadata", _CONTEXTS, itself=False),
        reference=("target",),
        query_id=("id",),
        language=("metadata.language",),
    ),
    scores=_inspect_scores,
    hint="write logs as JSON: 'inspect log convert --to json', or --log-format json",
    left_out=lambda record: "it ended in an error" if record.get("error") else None,
)

_TRACE_FIELDS = frozenset(
    {
        *("id", "timestamp", "name", "userId", "sessionId", "release", "version", "environment"),
        *("tags", "bookmarked", "public", "input", "output", "metadata", "latency", "usage"),
        *("inputCost", "outputCost", "totalCost", "level", "errorCount", "warningCount"),
        *("defaultCount", "debugCount", "observationCount", "inputTokens", "outputTokens"),
        *("totalTokens", "scores", "comments", "observations", "projectId", "createdAt", FILE),
        *("updatedAt", "externalId", "htmlPath"),
    }
)


def _langfuse_scores(record: Record) -> Mapping[str, object]:
    """Return a trace's scores: columns of lists in exports, a list of records in the API."""
    listed = record.get("scores")
    scores: dict[str, object] = {}
    if isinstance(listed, Mapping):
        scores |= listed
    elif isinstance(listed, list):
        named = [item for item in listed if isinstance(item, Mapping) and "name" in item]
        scores |= {str(item["name"]): item.get("value") for item in named}
    further = {name: value for name, value in record.items() if name not in _TRACE_FIELDS}
    return scores | {name: value for name, value in further.items() if _is_score(value)}


def _is_score(value: object) -> bool:
    return isinstance(value, list) or number_of(value) is not None


LANGFUSE = Tool(
    name="langfuse",
    lists=("data", "traces"),
    fields=_fields(
        question=_under("input", _QUESTIONS),
        system=(*_under("metadata", _SYSTEMS, itself=False), "release", "version", FILE, "name"),
        answer=_under("output", _ANSWERS),
        passages=(
            *_under("output", _CONTEXTS, False),
            *_under("input", _CONTEXTS, False),
            *_under("metadata", _CONTEXTS, False),
        ),
        reference=("expectedOutput", *_under("metadata", _REFERENCES, itself=False)),
        query_id=("metadata.query_id", "metadata.question_id", "metadata.dataset_item_id"),
        language=("metadata.language",),
    ),
    scores=_langfuse_scores,
    hint="export the table of traces as JSON, JSONL or CSV, with input and output",
    left_out=lambda record: "its call failed" if record.get("level") == "ERROR" else None,
)


def _langsmith_scores(record: Record) -> Mapping[str, object]:
    """Return feedback: the mean of each key of a run, or the columns ``feedback.KEY``."""
    stats = _named(record, "feedback_stats")
    means = {key: value.get("avg") for key, value in stats.items() if isinstance(value, Mapping)}
    start = "feedback."
    columns = {key.removeprefix(start): record[key] for key in record if key.startswith(start)}
    return {**means, **_named(record, "feedback"), **columns}


def _langsmith_left_out(record: Record) -> str | None:
    if record.get("parent_run_id"):
        return "it is a run within another"
    return "its run failed" if record.get("error") else None


LANGSMITH = Tool(
    name="langsmith",
    lists=("runs", "results"),
    fields=_fields(
        question=_under("inputs", _QUESTIONS),
        system=(
            *("session_name", "experiment", "extra.metadata.system", "extra.metadata.model"),
            *("extra.metadata.ls_model_name", FILE, "session_id", "name"),
        ),
        answer=_under("outputs", _ANSWERS),
        passages=(*_under("outputs", _CONTEXTS, False), *_under("inputs", _CONTEXTS, False)),
        reference=(
            *_under("reference_outputs", (*_ANSWERS[:-1], *_REFERENCES)),
            *_under("reference", (*_ANSWERS[:-1], *_REFERENCES)),
        ),
        query_id=("reference_example_id", "example_id"),
        language=("extra.metadata.language",),
    ),
    scores=_langsmith_scores,
    hint="export runs, or write an experiment's to_pandas() as CSV",
    left_out=_langsmith_left_out,
)
