"""``surrogate-arena metaeval``: how good judges are, and how far people agree."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from surrogate.commands.metaeval_grouse import grouse
from surrogate.commands.metaeval_options import (
    STORE_FILE,
    MaxCallsOption,
    NotedInOption,
    StoreOption,
)
from surrogate.commands.metaeval_wikieval import wikieval
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

metaeval = typer.Typer(
    help="Hold judges against human labels, and human labels against each other.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

metaeval.command()(grouse)
metaeval.command()(wikieval)

ReplicatesOption = Annotated[
    int, typer.Option("--replicates", min=2, help="Bootstrap replicates of intervals and errors.")
]
PermutationsOption = Annotated[
    int, typer.Option("--permutations", min=1, help="Random swaps of each significance test.")
]


@metaeval.command()
def agreement(
    files: Annotated[
        list[Path],
        typer.Argument(help="Files in MEMERAG's format; a field holds one label or a list."),
    ],
    field: Annotated[
        str,
        typer.Option(
            "--field", help="factuality, fine_grained_factuality or relevance of the sentences."
        ),
    ] = "factuality",
    coarse: Annotated[
        bool, typer.Option("--coarse", help="Put fine-grained labels together to coarse ones.")
    ] = False,
    replicates: ReplicatesOption = 1000,
    seed: SeedOption = 0,
    as_json: JsonOption = False,
) -> None:
    """Measure how far annotators agree: AC1, Fleiss' kappa, Krippendorff's alpha."""
    from arena import UsageError
    from arena.metaevaluation.agreement import Resampling, agreement_report
    from arena.metaevaluation.memerag.rating_files import FIELDS, read_ratings
    from surrogate.metaevaluation.printing import print_agreement

    chosen = next((name for name in FIELDS if name == field), None)
    if chosen is None:
        raise UsageError(f"--field is {field!r}; use one of {', '.join(FIELDS)}")
    resampling = Resampling(replicates, seed=seed)
    reports = [
        (path, agreement_report(read_ratings(path, chosen, coarse), resampling)) for path in files
    ]
    print_agreement(reports, chosen, coarse, as_json)


@metaeval.command()
def memerag(
    folder: Annotated[Path, typer.Argument(help="Folder with MEMERAG's en.jsonl, de.jsonl, …")],
    judges: Annotated[
        list[str],
        typer.Option(
            "--judge", help="llm:MODEL, nli:MODEL_OR_FOLDER, lexical or grounding; repeatable."
        ),
    ],
    prompt: Annotated[
        str, typer.Option("--prompt", help="For LLMs: zero_shot, cot, ag or ag_cot.")
    ] = "ag_cot",
    languages: Annotated[
        str | None, typer.Option("--languages", help="Comma-separated languages; all by default.")
    ] = None,
    limit: Annotated[
        int | None,
        typer.Option("--limit", min=1, help="Judge the first so many sentences of a language."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", help="File for the verdicts, such as run.json.")
    ] = None,
    arena: NotedInOption = None,
    base_url: BaseUrlOption = OPENAI_URL,
    api_key_env: ApiKeyOption = OPENAI_KEY,
    store: StoreOption = STORE_FILE,
    max_calls: MaxCallsOption = None,
    retries: Annotated[
        int, typer.Option("--retries", min=0, help="Further tries where a reply has no label.")
    ] = 5,
    concurrency: ConcurrencyOption = 8,
    timeout: TimeoutOption = 60.0,
    max_tokens: Annotated[
        int, typer.Option("--max-tokens", min=1, help="Most tokens of a reply.")
    ] = 1024,
    device: DeviceOption = "auto",
    batch_size: BatchSizeOption = 32,
    download: DownloadOption = False,
    replicates: ReplicatesOption = 1000,
    permutations: PermutationsOption = 10_000,
    seed: SeedOption = 0,
    as_json: JsonOption = False,
) -> None:
    """Hold judges of faithfulness against MEMERAG's human labels."""
    from arena.llm import Endpoint
    from arena.metaevaluation.memerag import read_memerag
    from features.models import ModelOptions
    from surrogate.metaevaluation.printing import print_memerag
    from surrogate.metaevaluation.session import JudgeOptions, SessionOptions, hold_session

    options = JudgeOptions(
        prompt=prompt,
        endpoint=Endpoint(base_url, api_key_env, concurrency=concurrency, timeout_s=timeout),
        store=store,
        max_calls=max_calls,
        max_tokens=max_tokens,
        retries=retries,
        models=ModelOptions(device, batch_size, download),
    )
    session = hold_session(
        read_memerag(folder, split_names(languages)),
        judges,
        options,
        SessionOptions(limit, replicates, permutations, seed),
    )
    session.write(out, arena)
    print_memerag(session, as_json)


@metaeval.command()
def compare(
    run_a: Annotated[Path, typer.Argument(help="Verdicts as metaeval memerag --out wrote them.")],
    run_b: Annotated[Path, typer.Argument(help="Verdicts to compare with, on the same data.")],
    permutations: PermutationsOption = 10_000,
    seed: SeedOption = 0,
    as_json: JsonOption = False,
) -> None:
    """Test whether the judges, or prompts, of two runs differ (paired permutation tests)."""
    from arena.metaevaluation.memerag import compare_judges, read_run
    from surrogate.metaevaluation.printing import print_comparisons

    of_a, of_b = read_run(run_a).by_judge(), read_run(run_b).by_judge()
    found = [
        compare_judges(first, second, permutations, seed)
        for first in of_a.values()
        for second in of_b.values()
    ]
    print_comparisons(found, as_json)
