"""Options that several commands share."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

JsonOption = Annotated[
    bool, typer.Option("--json", help="Print JSON to standard output instead of tables.")
]
JobsOption = Annotated[
    int,
    typer.Option(
        "--jobs", min=-1, help="Processes to use; -1 for all cores. The result is the same."
    ),
]
SeedOption = Annotated[int, typer.Option("--seed", min=0, help="Seed of everything random.")]
TournamentsOption = Annotated[
    int, typer.Option("--tournaments", min=1, help="Bootstrapped tournaments a language.")
]
QuestionsOption = Annotated[
    int,
    typer.Option(
        "--questions",
        min=1,
        help="Questions drawn with replacement a tournament, at most the number judged.",
    ),
]
FeaturesOption = Annotated[
    str,
    typer.Option(
        "--features",
        help="Comma-separated features, such as citation_recall@10,bleu; or groups of them: "
        "default, deterministic, paper, all.",
    ),
]

DeviceOption = Annotated[
    str, typer.Option("--device", help="Where models run: auto, cpu, cuda or mps.")
]
BatchSizeOption = Annotated[
    int, typer.Option("--batch-size", min=1, help="Sequences that a model takes at once.")
]
DownloadOption = Annotated[
    bool, typer.Option("--download", help="Fetch models that are not on this machine.")
]

BaseUrlOption = Annotated[
    str, typer.Option("--base-url", help="OpenAI-compatible server, up to /v1.")
]
ApiKeyOption = Annotated[
    str, typer.Option("--api-key-env", help="Environment variable that holds the key.")
]
ConcurrencyOption = Annotated[
    int, typer.Option("--concurrency", min=1, max=1000, help="Most calls at the same time.")
]
TimeoutOption = Annotated[
    float, typer.Option("--timeout", min=0.001, help="Seconds until a call counts as lost.")
]
BodyOption = Annotated[
    str,
    typer.Option(
        "--body",
        help="Further fields of the request as JSON; "
        '{"max_completion_tokens": 4000} takes the place of --max-tokens.',
    ),
]
OPENAI_URL = "https://api.openai.com/v1"
OPENAI_KEY = "OPENAI_API_KEY"


def split_names(text: str | None) -> list[str]:
    """Split a comma-separated list of names; spaces around commas do not count."""
    if text is None:
        return []
    return [name.strip() for name in text.split(",") if name.strip()]


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
    from arena.data.errors import UsageError
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


STORE_FILE = "metaevaluation.sqlite"

StoreOption = Annotated[str, typer.Option("--store", help="SQLite file that keeps every reply.")]
MaxCallsOption = Annotated[
    int | None,
    typer.Option("--max-calls", min=0, help="Most prompts that a judge sends in this run."),
]
NotedInOption = Annotated[
    Path | None,
    typer.Option("--arena", help="Arena folder whose metaevaluation.json notes the result."),
]
