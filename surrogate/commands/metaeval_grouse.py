"""``surrogate-arena metaeval grouse``: what judges pass of unit tests."""

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
    ConcurrencyOption,
    JsonOption,
    TimeoutOption,
    split_names,
)


def grouse(
    judges: Annotated[
        list[str],
        typer.Option("--judge", help="llm:MODEL, lexical or python:MODULE:FUNCTION; repeatable."),
    ],
    file: Annotated[
        Path | None,
        typer.Argument(help="Unit tests in GroUSE's format; this project's own by default."),
    ] = None,
    languages: Annotated[
        str | None, typer.Option("--languages", help="Comma-separated languages; all by default.")
    ] = None,
    types: Annotated[
        str | None,
        typer.Option("--types", help="Comma-separated test types, by name or number from 1 to 16."),
    ] = None,
    limit: Annotated[
        int | None,
        typer.Option("--limit", min=1, help="First so many tests of each language and type."),
    ] = None,
    arena: NotedInOption = None,
    replies: Annotated[
        str,
        typer.Option(
            "--replies",
            help="What the server holds a model to: json_schema, json_object or text (nothing).",
        ),
    ] = "json_schema",
    base_url: BaseUrlOption = OPENAI_URL,
    api_key_env: ApiKeyOption = OPENAI_KEY,
    store: StoreOption = STORE_FILE,
    max_calls: MaxCallsOption = None,
    concurrency: ConcurrencyOption = 8,
    timeout: TimeoutOption = 60.0,
    max_tokens: Annotated[
        int, typer.Option("--max-tokens", min=1, help="Most tokens of a reply.")
    ] = 2048,
    as_json: JsonOption = False,
) -> None:
    """Let judges mark answers whose right marks are known: 16 types of unit tests (GroUSE)."""
    from arena.llm import Endpoint
    from surrogate.metaevaluation.grouse_printing import print_grouse
    from surrogate.metaevaluation.grouse_session import (
        LlmOptions,
        chosen_tests,
        hold_grouse_session,
    )

    options = LlmOptions(
        Endpoint(base_url, api_key_env, concurrency=concurrency, timeout_s=timeout),
        store,
        replies,
        max_calls,
        max_tokens,
    )
    tests = chosen_tests(file, split_names(languages), split_names(types), limit)
    session = hold_grouse_session(tests, judges, options, file)
    session.write(arena)
    print_grouse(session, as_json)
