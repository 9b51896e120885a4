"""How good judges are: ``diagnose``, ``agreement``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Option

from arena.data.errors import UsageError
from arena.data.judges import PEOPLE, is_person
from surrogate_arena.cli import options as opt
from surrogate_arena.cli.printing import print_remarks, show, with_spans

if TYPE_CHECKING:
    import pandas as pd


SHOWN_BELOW = 0.05
"""P-value below which a question is shown as one that judges disagree on more than on others."""


def diagnose_command(
    judgments: opt.JudgmentsSource,
    judge: opt.Judge = None,
    language: opt.Language = None,
    as_json: opt.Json = False,
) -> None:
    """Report what limits a board: gaps, position bias, disagreement, length bias."""
    from surrogate_arena.diagnosis import diagnose

    source = judgments if judgments.is_dir() else _judgments_of(judgments)
    diagnosis = diagnose(source, judge=judge, language=language)
    if as_json:
        show(diagnosis.as_json(), as_json)
        return
    print_remarks(diagnosis.remarks)


def _judgments_of(file: Path) -> pd.DataFrame:
    from surrogate_arena.importers.judgments import read_judgments

    return read_judgments(file)


def agreement_command(
    judgments: opt.JudgmentsSource,
    reference: Annotated[
        str,
        Option(help="Comma-separated judges that are the reference, by majority."),
    ] = PEOPLE,
    write: Annotated[
        bool,
        Option(
            "--write",
            help="Record the agreement in the arena folder's metaevaluation.json, for board.",
        ),
    ] = False,
    as_json: opt.Json = False,
) -> None:
    """Measure how far judges agree with people, or with another judge."""
    from arena.data.answer_digests import outdated_remark
    from arena.data.folder import read_arena
    from surrogate_arena.cli.judging_records import add_metaevaluations
    from surrogate_arena.diagnosis.agreement import agreements

    n_outdated = 0
    if judgments.is_dir():
        arena = read_arena(judgments)
        table = arena.judgments
        n_outdated = len(arena.outdated)
    else:
        table = _judgments_of(judgments)
    skipped = [outdated_remark(n_outdated).sentence] if n_outdated else []
    if table.empty:
        raise UsageError("; ".join([f"{judgments}: there is no judgment in it", *skipped]))
    if write and not judgments.is_dir():
        raise UsageError(f"--write needs an arena folder, and {judgments} is a file")
    judges = _reference(table, reference)
    name = PEOPLE if reference == PEOPLE else "+".join(judges)
    measured = _measured_agreement(table, judges, name)
    notes = [*skipped]
    file = None
    if write:
        entries, absent = agreements(measured["judges"], name)
        file = add_metaevaluations(judgments, entries)
        notes += [f"{judge} is not written: {reason}" for judge, reason in absent.items()]
    notes += _unknowns(measured)
    shown = measured if as_json else _shown_tables(measured)
    shown["notes"] = notes
    shown["written"] = file
    titles = {
        "judges": f"Agreement with {', '.join(judges)} (Cohen's kappa; intervals over questions)",
        "one_vote": "Kappa with one person's vote, and of two people, where several judged a pair",
        "rankings": "Kendall's tau of rankings, and shares of pairs decided (95% interval)",
        "audit": (
            "Points by judge, on the reference's scale, less by reference (shares; p corrected for "
            "a judge's systems, Holm)"
        ),
        "each_other": "Kappa of every two judges (95% interval)",
        "jury": "Right where the reference decides: judges and a jury with weights (95% interval)",
        "languages": "Kappa of any two judges, the reference among them (95% interval)",
        "questions": "Questions of more disagreement than others (shares; p for all at once)",
        "reference": "",
        "written": "Written, for board, to",
    }
    show(shown, as_json, titles)


def _measured_agreement(table: pd.DataFrame, reference: list[str], name: str) -> dict[str, Any]:
    from surrogate_arena.diagnosis.agreement import (
        agreement_with_one_vote,
        agreement_with_reference,
    )
    from surrogate_arena.diagnosis.audit import audit
    from surrogate_arena.diagnosis.disagreement import (
        agreement_by,
        disagreement_by_question,
        shared_verdicts,
    )
    from surrogate_arena.diagnosis.jury import jury

    kappas = agreement_with_reference(table, reference)
    people = [name for name in reference if is_person(name)]
    compared = table[table["judge"].isin([*people, *kappas["judge"]])]
    shared = shared_verdicts(table, reference, name)
    is_of_others = (shared[["judge", "judge_other"]] != name).all(axis=1)
    return {
        "reference": reference,
        "judges": kappas,
        "one_vote": agreement_with_one_vote(compared, people),
        "audit": audit(table, reference),
        "each_other": agreement_by(shared[is_of_others], ["judge", "judge_other"]),
        "jury": jury(table, reference),
        "languages": agreement_by(shared, ["language"]),
        "questions": disagreement_by_question(shared),
    }


def _shown_tables(measured: dict[str, Any]) -> dict[str, Any]:
    from arena.quality.agreement import MEASURED
    from surrogate_arena.diagnosis.agreement import RANKED

    ends = {"low": "interval_low", "high": "interval_high"}
    kappas = measured["judges"][["judge", *MEASURED]].drop(columns="standard_error")
    questions = measured["questions"]
    of_two = measured["each_other"].drop(columns="standard_error")
    languages = measured["languages"].drop(columns="standard_error")
    shown = {
        "judges": with_spans(kappas.rename(columns=ends)),
        "one_vote": with_spans(measured["one_vote"].rename(columns=ends)),
        "rankings": with_spans(measured["judges"][["judge", *RANKED]]),
        "audit": with_spans(measured["audit"].drop(columns="questions").rename(columns=ends)),
        "each_other": with_spans(of_two.rename(columns=ends)),
        "jury": with_spans(measured["jury"].rename(columns=ends)),
        "questions": questions[questions["p"] < SHOWN_BELOW],
    }
    if len(languages) > 1:
        shown["languages"] = with_spans(languages.rename(columns=ends))
    return shown


def _unknowns(measured: dict[str, Any]) -> list[str]:
    from arena.quality.agreement import FEWEST_ITEMS

    kappas = measured["judges"]
    notes = []
    for judge in kappas.loc[kappas["tau"].isna(), "judge"]:
        notes.append(f"{judge} has no ranking: it shares fewer than three systems")
    has_people = any(map(is_person, measured["reference"]))
    has_machines = not all(map(is_person, kappas["judge"]))
    if has_people and has_machines and measured["one_vote"].empty:
        notes.append(
            "How far people agree with each other is not known: several of them and a judge "
            f"have fewer than {FEWEST_ITEMS} pairs in common"
        )
    return notes


def _reference(table: pd.DataFrame, reference: str) -> list[str]:
    from arena.data.judges import judges_named

    present = sorted(set(table["judge"]))
    if reference == PEOPLE and not any(map(is_person, present)):
        raise UsageError(
            "nobody has voted here; let people vote: surrogate-arena vote ARENA --out vote.html; "
            f"or name judges to compare with (--reference): {', '.join(present)}"
        )
    return list(judges_named(present, reference))
