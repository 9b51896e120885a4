"""``surrogate-arena agreement``: which judge agrees best with people, or any other reference."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from surrogate.cli.options import JsonOption, SeedOption, split_names

PEOPLE = "people"


def agreement_command(
    judgments: Annotated[
        Path, typer.Argument(help="Arena folder, or file of judgments (JSONL, CSV, Parquet).")
    ],
    reference: Annotated[
        str,
        typer.Option(
            "--reference",
            help="Comma-separated judges that are the reference, together by majority; people: "
            "everybody who voted.",
        ),
    ] = PEOPLE,
    judges: Annotated[
        str | None,
        typer.Option("--judges", help="Comma-separated judges to hold against it; all others."),
    ] = None,
    seed: SeedOption = 0,
    as_json: JsonOption = False,
) -> None:
    """Say how far judges agree with people, and how many labels decide between two of them."""
    from arena.adapters.judgments import read_judgments
    from arena.data.errors import UsageError
    from arena.data.folder import read_arena
    from arena.diagnostics.judge_comparison import agreement_with_reference, comparison_sentences
    from arena.people.votes import PREFIX
    from surrogate.cli import printing

    table = read_arena(judgments).judgments if judgments.is_dir() else read_judgments(judgments)
    present = sorted(set(table["judge"]))
    named = split_names(reference)
    if reference == PEOPLE:
        named = [name for name in present if name.startswith(PREFIX)]
        if not named:
            raise UsageError(
                "nobody has voted here; collect votes with  surrogate-arena vote ARENA --collect, "
                f"or name judges (--reference): {', '.join(present)}"
            )
    asked = split_names(judges)
    unknown = [name for name in asked if name not in present]
    if unknown:
        raise UsageError(f"no judge {unknown[0]!r} (--judges); there is {', '.join(present)}")
    if asked:
        table = table[table["judge"].isin({*named, *asked})]
    kappas, compared = agreement_with_reference(table, named, seed)
    said = list(comparison_sentences(compared))
    if as_json:
        printing.print_json(
            {"reference": named, "judges": kappas, "compared": compared, "sentences": said}
        )
        return
    title = f"Agreement with {', '.join(named)} (Cohen's kappa, 95% interval over questions)"
    printing.print_columns(title, kappas, list(kappas))
    print("\n".join(said))
