"""Commands on verdicts: ``fit``, ``diagnose``, ``agreement``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

from arena.data.errors import UsageError, checked_choice
from arena.data.judge_names import PEOPLE, is_person
from arena.data.wording import count_of
from surrogate_arena.cli import options as opt
from surrogate_arena.cli.options import named_values
from surrogate_arena.cli.printing import print_notes, show, spans, with_spans

if TYPE_CHECKING:
    import pandas as pd

    from arena.quality import Finding

JudgmentsArgument = Annotated[
    Path,
    Argument(help="Arena folder, or file of judgments (JSONL, CSV, Parquet).", exists=True),
]

ColumnOption = Annotated[
    list[str] | None,
    Option(
        "--column",
        metavar="FIELD=NAME",
        help="Column of a field, such as system_a=left; repeatable. Files only.",
    ),
]


def fit(
    judgments: JudgmentsArgument,
    judge: Annotated[str | None, Option(help="Judge to use; or several, as one; or all.")] = None,
    language: Annotated[
        str | None, Option(help="Language; or all. Needed where there are several.")
    ] = None,
    columns: ColumnOption = None,
    drop_flagged: Annotated[
        bool,
        Option(
            "--drop-flagged",
            help="Leave out votes that were not blind, and duplicates that the source flags.",
        ),
    ] = False,
    ties: Annotated[str, Option(help="half or drop.")] = "half",
    ridge: Annotated[
        float | None,
        Option(
            min=0,
            help="Precision of the prior of the plain model, without biases of judges. "
            "Default: averaged over priors",
        ),
    ] = None,
    equal: Annotated[
        str | None,
        Option(
            help="length, or style (length, lists, headings, bold): rate as if all answers were "
            "alike in it. Arena folders only."
        ),
    ] = None,
    hard_verdicts: Annotated[
        bool,
        Option(
            "--hard-verdicts", help="Count the winner alone, where verdicts have probabilities."
        ),
    ] = False,
    seed: opt.Seed = 0,
    as_json: opt.Json = False,
) -> None:
    """Rate systems from pairwise judgments (Bradley-Terry), with intervals and tied ranks."""
    from arena.data.schema import ALL
    from arena.rating.biases import bias_table
    from arena.rating.ratings import rate
    from arena.rating.selected_judgments import selected_judgments
    from surrogate.board.judge_report import labels_of_verdicts
    from surrogate.board.rating_rows import without_ranks
    from surrogate_arena.importers.judgments import counted_judgments_of

    read = counted_judgments_of(
        judgments,
        columns=named_values("--column", columns, "FIELD=NAME"),
        drop_flagged=drop_flagged,
    )
    counted = read.table
    if equal is not None:
        counted = _with_traits(judgments, counted, equal)
    rated = rate(
        counted,
        ties=ties,
        ridge=ridge,
        language=language,
        judge=judge,
        seed=seed,
        hard_verdicts=hard_verdicts,
    )
    used = selected_judgments(read.table, language or ALL, judge or ALL)["judge"].unique()
    labels = labels_of_verdicts(judgments, read.table, used)
    table = rated.table
    n_without = len(read.table) - len(counted)
    if all(label.is_one_sided for label in labels):
        table = without_ranks(table)
    # Of many judges, such as thousands of voters, the first ones are described.
    notes = [f"{label.sentence}." for label in labels[:5]]
    if n_without:
        notes.append(f"{count_of(n_without, 'judgment')} left out: an answer is absent")
    for note in rated.notes:
        # Arguments of Python are options here.
        notes.append(note.replace("`ridge`", "--ridge"))
    shown = {
        "ratings": table if as_json else _shown_ratings(table),
        "biases": bias_table(rated.biases) if as_json else with_spans(bias_table(rated.biases)),
        "skipped": read.skipped,
        "notes": notes,
        "signature": rated.signature,
    }
    if as_json:
        shown["judges"] = labels
    titles = {
        "biases": "What judges like besides quality: logits that it adds (95% interval)",
        "skipped": "Left out or changed on reading",
    }
    show(shown, as_json, titles)


def _with_traits(folder: Path, judgments: pd.DataFrame, equal: str) -> pd.DataFrame:
    """Add what ratings are to be free of, and leave out judgments on answers that are absent."""
    from arena.data.folder import read_arena
    from arena.rating.biases import TRAIT
    from arena.rating.traits import EQUAL, with_traits

    checked_choice(equal, tuple(EQUAL), "trait")
    if not folder.is_dir():
        raise UsageError("`--equal` needs the answers: give an arena folder, not a file")
    table = with_traits(judgments, read_arena(folder).answers, EQUAL[equal])
    return table[table[f"{TRAIT}{EQUAL[equal][0]}"].notna()]


def _shown_ratings(ratings: pd.DataFrame) -> pd.DataFrame:
    """Return the columns that a terminal has room for."""
    columns = ["system", "rating", "95% interval", "rank", "rank_interval", "tier"]
    columns += ["wins", "losses", "ties"]
    if ratings["group"].nunique() > 1:
        columns.insert(0, "group")
    if ratings["note"].any():
        columns.append("note")
    table = ratings.assign(**{"95% interval": spans(ratings)})
    table["rank_interval"] = spans(ratings, "rank_low", "rank_high", "–", str)
    return table[columns]


def diagnose_command(
    judgments: JudgmentsArgument,
    judge: opt.Judge = None,
    language: opt.Language = None,
    seed: opt.Seed = 0,
    as_json: opt.Json = False,
) -> None:
    """Report what limits a board: gaps, position bias, disagreement, bias to length."""
    from surrogate_arena.diagnosis import diagnose
    from surrogate_arena.importers.judgments import read_judgments

    source = judgments if judgments.is_dir() else read_judgments(judgments)
    diagnosis = diagnose(source, seed, judge=judge, language=language)
    if as_json:
        show(diagnosis.as_json(), as_json)
        return
    # Findings of a kind stand together, so that one in every language fills no screen.
    by_kind: dict[tuple[str, str], list[Finding]] = {}
    for finding in diagnosis.findings:
        by_kind.setdefault((finding.severity, finding.check), []).append(finding)
    for (severity, _), findings in by_kind.items():
        print_notes(findings, severity.capitalize(), 5)


def agreement_command(
    judgments: JudgmentsArgument,
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
    seed: opt.Seed = 0,
    as_json: opt.Json = False,
) -> None:
    """Measure how far judges agree with people, or with another judge."""
    from arena.data.answer_digests import outdated_sentence
    from arena.data.folder import read_arena
    from surrogate_arena.importers.judgments import read_judgments

    n_outdated = 0
    if judgments.is_dir():
        arena = read_arena(judgments)
        table = arena.judgments
        n_outdated = len(arena.outdated)
    else:
        table = read_judgments(judgments)
    skipped = [outdated_sentence(n_outdated)] if n_outdated else []
    if table.empty:
        raise UsageError("; ".join([f"{judgments}: there is no judgment in it", *skipped]))
    if write and not judgments.is_dir():
        raise UsageError(f"--write needs an arena folder, and {judgments} is a file")
    judges = _reference(table, reference)
    measured = _measured_agreement(table, judges, seed)
    notes: list[str] = []
    file = None
    if write:
        name = PEOPLE if reference == PEOPLE else "+".join(judges)
        file, notes = _written_agreement(judgments, measured, name)
    shown = measured.tables() if as_json else measured.shown_tables()
    shown["notes"] = [*skipped, *notes, *measured.notes()]
    shown["written"] = file
    titles = {
        "judges": f"Agreement with {', '.join(judges)} (Cohen's kappa, 95% interval)",
        "one_vote": "Kappa with one person's vote, and of two people, where several judged a pair",
        "rankings": "Kendall's tau of rankings, and shares of pairs decided (95% interval)",
        "biases": "Rated higher or lower than by the reference, beyond the error (logits, 95%)",
        "reference": "",
        "written": "Written, for board, to",
    }
    show(shown, as_json, titles)


@dataclass(frozen=True)
class _Agreement:
    """How far judges agree with a reference.

    Attributes:
        reference: The judges that are the reference.
        people: Those of them that are people.
        kappas: One row per other judge; see ``agreement_with_reference``.
        one_vote: See ``agreement_with_one_vote``.
        biases: See ``surrogate.board.judge_comparison.biases``.
    """

    reference: list[str]
    people: list[str]
    kappas: pd.DataFrame
    one_vote: pd.DataFrame
    biases: pd.DataFrame

    def tables(self) -> dict[str, Any]:
        """Return all tables."""
        return {
            "reference": self.reference,
            "judges": self.kappas,
            "one_vote": self.one_vote,
            "biases": self.biases,
        }

    def shown_tables(self) -> dict[str, Any]:
        """Return tables for a terminal: both ends of an interval in one column."""
        from arena.quality.agreement import MEASURED, RANKED

        ends = {"low": "interval_low", "high": "interval_high"}
        measured = self.kappas[["judge", *MEASURED]].drop(columns="standard_error")
        return {
            "judges": with_spans(measured.rename(columns=ends)),
            "one_vote": with_spans(self.one_vote.rename(columns=ends)),
            "rankings": with_spans(self.kappas[["judge", *RANKED]]),
            "biases": with_spans(self.biases.rename(columns=ends)),
        }

    def notes(self) -> list[str]:
        """Say what is not known."""
        from arena.quality.agreement import FEWEST_ITEMS

        notes = []
        for judge in self.kappas.loc[self.kappas["tau"].isna(), "judge"]:
            notes.append(f"{judge} has no ranking: it shares fewer than three systems")
        has_machines = not all(map(is_person, self.kappas["judge"]))
        if self.people and has_machines and self.one_vote.empty:
            notes.append(
                "How far people agree with each other is not known: several of them and a judge "
                f"have fewer than {FEWEST_ITEMS} pairs in common"
            )
        return notes


def _measured_agreement(table: pd.DataFrame, reference: list[str], seed: int) -> _Agreement:
    """Compare all other judges with the reference."""
    from arena.quality.agreement import agreement_with_reference
    from arena.quality.people_agreement import agreement_with_one_vote
    from surrogate.board.judge_comparison import biases

    kappas = agreement_with_reference(table, reference, seed)
    people = [name for name in reference if is_person(name)]
    compared = table[table["judge"].isin([*people, *kappas["judge"]])]
    return _Agreement(
        reference=reference,
        people=people,
        kappas=kappas,
        one_vote=agreement_with_one_vote(compared, people),
        biases=biases(table, reference),
    )


def _written_agreement(arena: Path, measured: _Agreement, reference: str) -> tuple[Path, list[str]]:
    """Record the agreement in an arena's folder; return the file, and which judges it lacks."""
    from surrogate.board.metaevaluations import add_metaevaluations, agreements

    entries, absent = agreements(measured.kappas, reference)
    file = add_metaevaluations(arena, entries)
    return file, [f"{judge} is not written: {reason}" for judge, reason in absent.items()]


def _reference(table: pd.DataFrame, reference: str) -> list[str]:
    """Return the judges that are the reference."""
    from arena.data.judge_names import judges_named

    present = sorted(set(table["judge"]))
    if reference == PEOPLE and not any(map(is_person, present)):
        raise UsageError(
            "nobody has voted here; collect votes with  surrogate-arena vote ARENA --collect, "
            f"or name judges (--reference): {', '.join(present)}"
        )
    return list(judges_named(present, reference))
