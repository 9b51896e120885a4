"""``surrogate-arena agreement``: how far judges agree with people, or any other reference."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from arena.data.wording import count_of
from surrogate.cli.options import JsonOption, SeedOption, split_names

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

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
    calibrate: Annotated[
        str | None,
        typer.Option(
            "--calibrate",
            help="Judge whose verdicts to calibrate to the reference's: with what probability "
            "would it agree?",
        ),
    ] = None,
    write: Annotated[
        bool,
        typer.Option(
            "--write",
            help="Write into the arena folder, for board: the agreement into metaevaluation.json, "
            "or with --calibrate the calibrated verdicts, as judge calibrated:NAME.",
        ),
    ] = False,
    seed: SeedOption = 0,
    as_json: JsonOption = False,
) -> None:
    """Say how far judges agree with people, or with another judge."""
    from arena.adapters.judgments import read_judgments
    from arena.data.errors import UsageError
    from arena.data.folder import read_arena
    from arena.diagnostics.agreement import agreement_with_reference
    from surrogate.board.judge.metaevaluations import add_metaevaluations, agreements
    from surrogate.cli import printing

    table = read_arena(judgments).judgments if judgments.is_dir() else read_judgments(judgments)
    if table.empty:
        raise UsageError(f"{judgments}: there is no judgment in it")
    if write and not judgments.is_dir():
        raise UsageError(f"--write writes into an arena folder, and {judgments} is a file")
    named, table = _asked(table, reference, split_names(judges))
    if calibrate is not None:
        _calibrate(table, calibrate, named, seed, judgments if write else None, as_json)
        return
    kappas = agreement_with_reference(table, named, seed)
    said: list[str] = []
    written = None
    if write:
        held_against = PEOPLE if reference == PEOPLE else "+".join(named)
        entries, absent = agreements(kappas, held_against)
        written = add_metaevaluations(judgments, entries)
        said += [f"{name} is not noted: {reason}" for name, reason in absent.items()]
    if as_json:
        printing.print_json(
            {
                "reference": named,
                "judges": kappas,
                "notes": said,
                "written": None if written is None else str(written),
            }
        )
        return
    title = f"Agreement with {', '.join(named)} (Cohen's kappa, 95% interval over questions)"
    printing.print_columns(title, kappas, list(kappas.drop(columns="languages")))
    if said:
        print("\n".join(said))
    if written is not None:
        print(f"Noted in {written}, for  surrogate-arena board {judgments}")


def _asked(
    table: pd.DataFrame, reference: str, judges: Sequence[str]
) -> tuple[list[str], pd.DataFrame]:
    """Return the judges of the reference, and the judgments of these and of those asked for."""
    from arena.data.errors import UsageError
    from arena.people.ballots import PREFIX

    present = sorted(set(table["judge"]))
    named = split_names(reference)
    if reference == PEOPLE:
        named = [name for name in present if name.startswith(PREFIX)]
        if not named:
            raise UsageError(
                "nobody has voted here; collect votes with  surrogate-arena vote ARENA --collect, "
                f"or name judges (--reference): {', '.join(present)}"
            )
    unknown = [name for name in judges if name not in present]
    if unknown:
        raise UsageError(f"no judge {unknown[0]!r} (--judges); there is {', '.join(present)}")
    return named, table[table["judge"].isin({*named, *judges})] if judges else table


def _calibrate(
    table: pd.DataFrame,
    judge: str,
    reference: list[str],
    seed: int,
    folder: Path | None,
    as_json: bool,
) -> None:
    """Calibrate one judge, print what that is worth, and write its verdicts where asked to."""
    from arena.data.append import append_rows
    from arena.data.schema import CALIBRATED
    from arena.people.calibration import calibrate
    from surrogate.cli import printing

    found = calibrate(table, judge, reference, seed)
    added = None
    if folder is not None:
        added = append_rows(folder, "judgments", found.judgments(), replacing=True)
    if as_json:
        printing.print_json(
            {
                "judge": judge,
                "reference": reference,
                "pairs": found.pairs,
                "questions": found.questions,
                "errors": found.errors,
                "association": [found.association, found.low, found.high],
                "warning": found.warning,
                "written": None if added is None else str(added[0]),
            }
        )
        return
    errors = found.errors
    print(
        f"{judge} against {', '.join(reference)}: {count_of(found.pairs, 'pair')} on "
        f"{count_of(found.questions, 'question')}. Brier score {errors['before']:.3f}, calibrated "
        f"{errors['after']:.3f} (cross-fitted; difference {errors['difference']:+.3f}, 95% "
        f"interval {errors['low']:+.3f} to {errors['high']:+.3f})"
    )
    if found.warning:
        print(f"Warning: {found.warning}")
    if added is not None:
        print(f"{count_of(added[1], 'judgment')} of {CALIBRATED}{judge} written to {added[0]}")
