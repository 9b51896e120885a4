"""``surrogate-arena metaeval wikieval``: judges of faithfulness and relevance."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from surrogate.commands.metaeval_options import (
    STORE_FILE,
    MaxCallsOption,
    NotedInOption,
    StoreOption,
)
from surrogate.commands.options import (
    OPENAI_KEY,
    OPENAI_URL,
    ApiKeyOption,
    BaseUrlOption,
    BatchSizeOption,
    ConcurrencyOption,
    DeviceOption,
    DownloadOption,
    JsonOption,
    SeedOption,
    TimeoutOption,
    split_names,
)


def wikieval(
    folder: Annotated[Path, typer.Argument(help="Folder with WikiEval's ff.csv, ar.csv, cr.csv.")],
    judges: Annotated[
        list[str],
        typer.Option(
            "--judge",
            help="ragas:LLM, 'ragas:LLM with EMBEDDER', gpt-score:LLM, gpt-ranking:LLM, "
            "embedder:MODEL_OR_FOLDER, reranker:MODEL_OR_FOLDER or lexical; repeatable.",
        ),
    ],
    criteria: Annotated[
        str | None,
        typer.Option(
            "--criteria",
            help="Comma-separated: faithfulness, answer_relevance, context_relevance; all by "
            "default.",
        ),
    ] = None,
    better: Annotated[
        str,
        typer.Option(
            "--better",
            help="How the better text is known: provenance, or label where label 1 says so.",
        ),
    ] = "provenance",
    ties: Annotated[
        str, typer.Option("--ties", help="random (broken by a draw) or half (half right).")
    ] = "random",
    limit: Annotated[
        int | None,
        typer.Option("--limit", min=1, help="Judge the first so many pairs of a criterion."),
    ] = None,
    arena: NotedInOption = None,
    base_url: BaseUrlOption = OPENAI_URL,
    api_key_env: ApiKeyOption = OPENAI_KEY,
    store: StoreOption = STORE_FILE,
    max_calls: MaxCallsOption = None,
    concurrency: ConcurrencyOption = 8,
    timeout: TimeoutOption = 60.0,
    max_tokens: Annotated[
        int,
        typer.Option(
            "--max-tokens", min=1, help="Most tokens of a reply, for gpt-score and -ranking."
        ),
    ] = 512,
    device: DeviceOption = "auto",
    batch_size: BatchSizeOption = 32,
    download: DownloadOption = False,
    replicates: Annotated[
        int, typer.Option("--replicates", min=2, help="Bootstrap replicates of standard errors.")
    ] = 1000,
    seed: SeedOption = 0,
    as_json: JsonOption = False,
) -> None:
    """Hold judges of faithfulness and relevance against WikiEval's pairs."""
    from arena.llm import Endpoint
    from arena.metaevaluation.wikieval import read_wikieval
    from features.models import ModelOptions
    from surrogate.metaevaluation.wikieval_printing import print_wikieval
    from surrogate.metaevaluation.wikieval_session import (
        PairJudgeOptions,
        WikievalOptions,
        hold_wikieval,
    )

    options = PairJudgeOptions(
        endpoint=Endpoint(base_url, api_key_env, concurrency=concurrency, timeout_s=timeout),
        store=store,
        max_calls=max_calls,
        max_tokens=max_tokens,
        models=ModelOptions(device, batch_size, download),
    )
    session = hold_wikieval(
        read_wikieval(folder, split_names(criteria), better),
        judges,
        options,
        WikievalOptions(limit, ties, replicates, seed),
    )
    session.write(arena)
    print_wikieval(session, as_json)
