"""``surrogate-arena metaeval sheet``: what an annotator of faithfulness and relevance fills in."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from arena.data.wording import count_of
from surrogate.cli.options import (
    FOLDER,
    JsonOption,
    LanguagesOption,
    TemplateOption,
    split_names,
    with_settings,
)
from surrogate.cli.targets import OUT_FILE
from surrogate.metaevaluation.options import LOCAL_MODEL_FIELDS, OF_PROMPTS, JudgeOptions

if TYPE_CHECKING:
    import pandas as pd

    from surrogate.metaevaluation.memerag.highlighting import Highlights


@with_settings(JudgeOptions, (*OF_PROMPTS, *LOCAL_MODEL_FIELDS, "further_tries"))
def sheet(
    folder: Annotated[
        Path, typer.Argument(help="Folder with MEMERAG's en.jsonl, de.jsonl, …", **FOLDER)
    ],
    out: Annotated[
        Path, typer.Option("--out", help="Sheet to write, such as anna.csv.", **OUT_FILE)
    ],
    settings: JudgeOptions,
    highlight: Annotated[
        str | None,
        typer.Option(
            "--highlight",
            help="Model that finds the sentences of the passages that support each sentence; "
            "they are marked by **.",
        ),
    ] = None,
    template: TemplateOption = None,
    languages: LanguagesOption = None,
    limit: Annotated[
        int | None,
        typer.Option("--limit", min=1, help="Take the first so many sentences of a language."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Write a sheet of questions for one annotator, on request with the support highlighted."""
    from surrogate.cli import printing
    from surrogate.metaevaluation.annotation import annotation_sheet, write_sheet
    from surrogate.metaevaluation.memerag.reading import read_memerag

    sentences = read_memerag(folder, split_names(languages))
    if limit is not None:
        sentences = sentences.groupby("language", sort=False).head(limit).reset_index(drop=True)
    found = None if highlight is None else _highlighted(sentences, highlight, settings, template)
    shown = sentences
    if found is not None:
        shown = sentences.assign(passages=found.table["highlighted"].to_numpy())
    write_sheet(annotation_sheet(shown), out)
    counts = _counts(sentences, found)
    if as_json:
        printing.print_json({"file": str(out), **counts})
        return
    print(f"{count_of(len(sentences), 'sentence')} to annotate: {out}")
    if found is not None:
        print(
            f"Support is highlighted of {counts['highlighted']}; {counts['unsupported']} have "
            f"none, of {counts['unknown']} nothing is known"
        )
        print(found.usage)


def _highlighted(
    sentences: pd.DataFrame, model: str, settings: JudgeOptions, template: str | None
) -> Highlights:
    from arena.llm import Budget, Llm, open_store
    from arena.text.prompts import read_templates
    from surrogate.cli.printing import progress_bar
    from surrogate.metaevaluation.memerag.highlighting import (
        HIGHLIGHT_PROMPT,
        MAX_TOKENS,
        TEMPERATURE,
        highlight_support,
    )

    own = read_templates([] if template is None else [template], [HIGHLIGHT_PROMPT])
    most = settings.max_tokens or MAX_TOKENS
    asked = settings.model_copy(
        update={"model": model, "temperature": TEMPERATURE, "max_tokens": most}
    ).located()
    with open_store(settings.store) as store, progress_bar() as progress:
        llm = Llm(asked, store, Budget(settings.max_calls))
        return highlight_support(sentences, llm, own, progress)


def _counts(sentences: pd.DataFrame, found: Highlights | None) -> dict[str, object]:
    counts: dict[str, object] = {"sentences": len(sentences)}
    if found is None:
        return counts
    table = found.table
    return counts | {
        "highlighted": int((table["references"].map(len) > 0).sum()),
        "unsupported": sum(each is False for each in table["is_supported"]),
        "unknown": int(table["is_supported"].isna().sum()),
        "usage": found.usage.as_json(),
    }
