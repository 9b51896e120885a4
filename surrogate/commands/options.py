"""Options that several commands share."""

from __future__ import annotations

from typing import Annotated

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
