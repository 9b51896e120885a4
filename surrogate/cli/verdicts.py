"""What verdicts say, and people's: ``fit``, ``diagnose``, ``vote``, ``agreement``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

from arena.data.errors import UsageError
from arena.data.wording import count_of
from surrogate.board.settings import MOST_DRAWS
from surrogate.cli.options import (
    OUT_FILE,
    ArenaArgument,
    JsonOption,
    JudgeOption,
    LanguageOption,
    LanguagesOption,
    SeedOption,
    named_values,
    split_names,
)
from surrogate.cli.printing import print_json, print_notes, print_table

if TYPE_CHECKING:
    import pandas as pd

    from arena.diagnostics import Finding

JudgmentsArgument = Annotated[
    Path,
    Argument(help="Arena folder, or file of judgments (JSONL, CSV, Parquet).", exists=True),
]

MOST_COMBINATIONS = 30
SHOWN_OF_A_KIND = 5
SHOWN_ROWS = 25
PEOPLE = "people"
DIAGNOSES = MappingProxyType(
    {
        "overview": (
            "Judgments",
            ("judgments", "ties", "systems", "never_judged", "questions", "battles_median"),
        ),
        "connections": (
            "Groups of systems that battles connect, and that wins connect both ways",
            ("systems", "groups", "largest_group", "strong_groups", "win_all", "lose_all"),
        ),
        "coverage": (
            "Battles a pair of systems",
            ("pairs", "never_met", "battles_min", "battles_median", "battles_max"),
        ),
        "absent": (
            "Answers and judgments that do not meet",
            ("answers", "not_judged", "judgments_without_answer"),
        ),
        "position": (
            "Decided battles that side A wins (95% interval)",
            ("decided", "won_by_a", "share", "low", "high", "verdict"),
        ),
        "order_consistency": (
            "Items judged in both orders (95% interval of the flip rate)",
            ("items", "consistent", "tie_vs_win", "flipped", "flip_rate", "low", "high"),
        ),
        "agreement": (
            "Agreement between judges (Cohen's kappa, 95% interval over questions)",
            ("other_judge", "items", "agreement", "kappa", "low", "high"),
        ),
        "self_preference": (
            "What judges give their own family, beyond judges of others (95% interval)",
            ("family", "others", "items", "share", "share_others", "excess", "low", "high"),
        ),
        "lengths": (
            "Decided battles that the longer answer wins (95% interval)",
            ("decided", "longer_won", "share", "low", "high", "slope", "slope_error", "missing"),
        ),
    }
)
"""Tables that are printed: title, and columns after language and judge."""


def fit(
    judgments: JudgmentsArgument,
    judge: Annotated[str | None, Option(help="Judge to use, or all.")] = None,
    language: LanguageOption = None,
    ties: Annotated[str, Option(help="half, drop or davidson.")] = "half",
    position: Annotated[
        bool, Option("--position", help="Estimate the advantage of side A.")
    ] = False,
    estimator: Annotated[
        str | None,
        Option(help="posterior, or likelihood with a bootstrap. Default: posterior if it applies"),
    ] = None,
    rounds: Annotated[
        int, Option(min=0, max=MOST_DRAWS, help="Bootstrap rounds; 0 for no intervals.")
    ] = 1000,
    scale: Annotated[str, Option(help="logit or elo.")] = "logit",
    ridge: Annotated[float | None, Option(min=0, help="Precision of the prior.")] = None,
    control: Annotated[
        str | None,
        Option(help="Rate at equal style: comma-separated length, citations, markup."),
    ] = None,
    factors: Annotated[
        str | None,
        Option(help="Rate components instead: comma-separated columns of systems.csv, or all."),
    ] = None,
    topic: Annotated[
        str | None, Option(help="With --factors: question column to split ratings by.")
    ] = None,
    seed: SeedOption = 0,
    as_json: JsonOption = False,
) -> None:
    """Rate systems from pairwise judgments (Bradley-Terry), with intervals and tied ranks."""
    from arena.adapters.judgments import read_judgments
    from arena.data.folder import read_arena
    from arena.diagnostics import diagnose_judgments
    from arena.rating.battle_files import (
        ALL,
        is_large_file,
        read_battle_columns,
        selected_judgments,
    )
    from arena.rating.ratings import rate

    if factors is not None:
        _fit_factors(judgments, factors, judge, topic, seed, as_json)
        return
    controls = split_names(control)
    if controls and not judgments.is_dir():
        raise UsageError("--control needs the answers: give an arena folder, not a file")
    findings: Sequence[Finding] = ()
    battles: Any
    if not controls and is_large_file(judgments):  # by columns, and not diagnosed further
        battles = read_battle_columns(judgments, language, judge)
    else:
        battles = selected_judgments(read_judgments(judgments), language, judge)
        findings = diagnose_judgments(battles, pool=judge == ALL).findings
    rated = rate(
        battles,
        ties=ties,
        position=position,
        controls=controls,
        answers=read_arena(judgments).answers if controls else None,
        estimator=estimator,
        rounds=rounds,
        scale=scale,
        ridge=ridge,
        language=language,
        judge=judge,
        seed=seed,
    )
    if as_json:
        found = [
            {"severity": f.severity, "check": f.check, "sentence": f.sentence} for f in findings
        ]
        print_json(
            {
                "ratings": rated.table,
                "tie_parameter": rated.tie_parameter,
                "position_effect": rated.position_effect,
                "controls": rated.controls,
                "diagnostics": {"notes": list(rated.notes), "findings": found},
                "signature": rated.signature,
            }
        )
        return
    columns = [name for name in rated.table if name != "note" or rated.table["note"].any()]
    print_table("Ratings", rated.table, columns)
    if rated.position_effect is not None:
        print(f"Advantage of side A: {rated.position_effect:+.3f} logits")
    if rated.tie_parameter is not None:
        print(f"Tie parameter: {rated.tie_parameter:.3f}")
    if len(rated.controls):
        print_table("Effect of one standard deviation of style (logits)", rated.controls)
    print_notes([*rated.notes, *(str(f.sentence) for f in findings if f.severity != "info")])
    print(f"Signature: {rated.signature}")


def _fit_factors(
    arena: Path, by: str, judge: str | None, topic: str | None, seed: int, as_json: bool
) -> None:
    """Rate what systems are made of, and predict combinations that nobody has built."""
    from arena.data.folder import read_arena
    from arena.rating.battle_files import ALL
    from surrogate.learning.posterior.factors import factor_ratings

    chosen = None if by == ALL else split_names(by)
    found = factor_ratings(read_arena(arena), chosen, judge=judge, topic=topic, seed=seed)
    if as_json:
        shown = {"effects": found.effects, "combinations": found.combinations}
        print_json(shown | {"tau_unseen": found.tau, "skipped": found.skipped})
        return
    for name, effects in found.effects.groupby("slice", sort=False):
        title = f"Effect of each value, in logits, with 90% intervals ({name})"
        print_table(title, effects.drop(columns="slice"))
        rows = found.combinations[found.combinations["slice"] == name].drop(columns="slice")
        named = rows.assign(system=rows["system"].fillna("not built"))
        print_table("Combinations", named, most=MOST_COMBINATIONS)
        tau = found.tau[str(name)]
        print(f"Kendall tau of systems predicted from the others' attributes: {tau:.2f}")
    for name, reason in found.skipped.items():
        print(f"Left out: {name} ({reason})")


def diagnose(
    judgments: JudgmentsArgument,
    judge: JudgeOption = None,
    language: LanguageOption = None,
    pool: Annotated[
        bool, Option("--pool", help="Take all judges as one, as for crowd workers.")
    ] = False,
    family: Annotated[
        list[str] | None,
        Option(help="NAME=FAMILY of a system or judge, for self-preference; repeatable."),
    ] = None,
    seed: SeedOption = 0,
    as_json: JsonOption = False,
) -> None:
    """Report what limits a board: gaps, position bias, disagreement, bias to length or kin."""
    from arena.adapters.judgments import read_judgments
    from arena.data.folder import read_arena
    from arena.diagnostics import diagnose as diagnose_arena
    from arena.diagnostics import diagnose_judgments

    families = named_values("--family", family, "NAME=FAMILY")
    chosen: dict[str, Any] = {"judge": judge, "language": language, "pool": pool, "seed": seed}
    if judgments.is_dir():
        found = diagnose_arena(read_arena(judgments), **chosen, families=families)
    else:
        found = diagnose_judgments(read_judgments(judgments), **chosen, families=families)
    if as_json:
        print_json(found.as_json())
        return
    for name, (title, columns) in DIAGNOSES.items():
        table = getattr(found, name)
        if table is not None and len(table):
            print_table(title, table, ["language", "judge", *columns], most=SHOWN_ROWS)
    print("\n" + "\n".join(_lines(found.findings)))


def _lines(findings: Sequence[Finding]) -> Iterator[str]:
    """Yield a line a finding, the first ones of each kind."""
    for (severity, check), alike in groupby(findings, key=lambda item: (item.severity, item.check)):
        same = list(alike)
        for finding in same[:SHOWN_OF_A_KIND]:
            yield f"{severity}: {finding}"
        if len(same) > SHOWN_OF_A_KIND:
            yield f"{severity}: … and {len(same) - SHOWN_OF_A_KIND:,} more on {check}; see --json"


def vote(
    arena: ArenaArgument,
    files: Annotated[
        list[Path] | None, Argument(help="With --collect: files that the page exported.")
    ] = None,
    out: Annotated[Path | None, Option(help="HTML file to write.", **OUT_FILE)] = None,
    collect: Annotated[
        bool, Option("--collect", help="Add the votes of files to the arena's judgments.")
    ] = False,
    questions: Annotated[int, Option(min=1, help="Questions to draw a language.")] = 20,
    pairs: Annotated[int, Option(min=1, help="Pairs of systems a question.")] = 3,
    judged_by: Annotated[
        str | None, Option(help="Draw from pairs that this judge has judged, to compare it.")
    ] = None,
    most: Annotated[int, Option(min=1, help="Most pairs on the page.")] = 60,
    languages: LanguagesOption = None,
    seed: SeedOption = 0,
    as_json: JsonOption = False,
) -> None:
    """Write a page on which people judge blind pairs, or read their votes back as judgments."""
    from arena.data.folder import read_arena
    from arena.judging.choosing.drawn import choose_pairs, pairs_judged_in

    if collect == (out is not None):
        raise UsageError("give a page to write (--out FILE.html), or votes (--collect FILE ...)")
    if bool(files) != collect:
        raise UsageError("files of votes belong to --collect, and it needs one at least")
    if out is None:
        _collect(arena, files or [], as_json)
        return
    read, chosen_languages = read_arena(arena), split_names(languages) or None
    if judged_by is None:
        chosen = choose_pairs(read, questions, pairs, False, chosen_languages, seed)
    else:
        judgments = read.judged_by(judged_by).judgments
        if chosen_languages:
            judgments = judgments[judgments["language"].isin(chosen_languages)]
        chosen = pairs_judged_in(read, judgments, False, seed)
    from arena.data.files import atomic_path
    from arena.people import make_ballot
    from surrogate.publish.voting.page import ballot_page

    ballot = make_ballot(read, chosen, most, seed)
    with atomic_path(out) as path:
        path.write_text(ballot_page(ballot), encoding="utf-8", newline="\n")
    if as_json:
        shown = {"file": str(out), "ballot": ballot.id, "pairs": len(ballot.pairs)}
        print_json(shown | {"left_out": ballot.left_out, "identical": ballot.identical})
        return
    print(
        f"{count_of(len(ballot.pairs), 'pair')} to judge in {out}; left out: {ballot.left_out} "
        f"beyond --most, {ballot.identical} of identical answers"
    )
    print("Open it in a browser, or send it; then  surrogate-arena vote ARENA --collect FILE ...")


def _collect(folder: Path, files: list[Path], as_json: bool) -> None:
    from arena.data.append import append_rows
    from arena.data.folder import read_arena
    from arena.people import collect_votes

    arena = read_arena(folder)
    found = collect_votes(arena, files)
    file, _ = append_rows(folder, "judgments", found.judgments, replacing=True)
    added = len(read_arena(folder).judgments) - len(arena.judgments)
    again = found.replaced + len(found.judgments) - added
    if as_json:
        shown = {"file": str(file), "votes": len(found.judgments), "added": added}
        print_json(shown | {"replaced": again, "voters": found.voters})
        return
    print_table("Votes", found.voters)
    print(f"{count_of(added, 'vote')} added to {file}, {again} replaced earlier ones on that pair")


def agreement(
    judgments: JudgmentsArgument,
    reference: Annotated[
        str,
        Option(help="Comma-separated judges that are the reference, by majority; people: voters."),
    ] = PEOPLE,
    judges: Annotated[
        str | None, Option(help="Comma-separated judges to compare. Default: all others")
    ] = None,
    calibrate: Annotated[
        str | None, Option(help="Judge whose verdicts to calibrate to the reference's.")
    ] = None,
    write: Annotated[
        bool,
        Option(
            "--write",
            help="Write into the arena folder, for board: the agreement into metaevaluation.json, "
            "or with --calibrate the calibrated verdicts, as judge calibrated:NAME.",
        ),
    ] = False,
    seed: SeedOption = 0,
    as_json: JsonOption = False,
) -> None:
    """Measure how far judges agree with people, and how many labels decide between two of them."""
    from arena.adapters.judgments import read_judgments
    from arena.data.folder import read_arena
    from arena.diagnostics.judge_agreement import agreement_with_reference, comparison_sentences
    from surrogate.board.judge.metaevaluations import add_metaevaluations, agreements

    table = read_arena(judgments).judgments if judgments.is_dir() else read_judgments(judgments)
    if table.empty:
        raise UsageError(f"{judgments}: there is no judgment in it")
    if write and not judgments.is_dir():
        raise UsageError(f"--write writes into an arena folder, and {judgments} is a file")
    named, table = _asked(table, reference, split_names(judges))
    if calibrate is not None:
        _calibrate(table, calibrate, named, seed, judgments if write else None, as_json)
        return
    kappas, compared = agreement_with_reference(table, named, seed)
    said = list(comparison_sentences(compared))
    written = None
    if write:
        entries, absent = agreements(kappas, PEOPLE if reference == PEOPLE else "+".join(named))
        written = add_metaevaluations(judgments, entries)
        said += [f"{name} is not noted: {reason}" for name, reason in absent.items()]
    if as_json:
        shown = {"reference": named, "judges": kappas, "compared": compared, "sentences": said}
        print_json(shown | {"written": None if written is None else str(written)})
        return
    title = f"Agreement with {', '.join(named)} (Cohen's kappa, 95% interval over questions)"
    print_table(title, kappas.drop(columns="languages"))
    if said:
        print("\n".join(said))
    if written is not None:
        print(f"Noted in {written}, for  surrogate-arena board {judgments}")


def _asked(
    table: pd.DataFrame, reference: str, judges: Sequence[str]
) -> tuple[list[str], pd.DataFrame]:
    """Return the judges of the reference, and the judgments of these and of those asked for."""
    from arena.people.votes import PREFIX

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

    found = calibrate(table, judge, reference, seed)
    added = None
    if folder is not None:
        added = append_rows(folder, "judgments", found.judgments(), replacing=True)
    if as_json:
        print_json(
            {
                **{"judge": judge, "reference": reference},
                **{"pairs": found.pairs, "questions": found.questions, "errors": found.errors},
                "association": [found.association, found.low, found.high],
                **{"warning": found.warning, "curve": found.curve},
                "written": None if added is None else str(added[0]),
            }
        )
        return
    title = f"{judge} against {', '.join(reference)}: {count_of(found.pairs, 'pair')} on "
    title += f"{count_of(found.questions, 'question')}, cross-fitted (95% interval over questions)"
    print_table(title, found.errors)
    print_table("What its scores are worth", found.curve, most=12)
    if found.warning:
        print(f"Warning: {found.warning}")
    if added is not None:
        print(f"{count_of(added[1], 'judgment')} of {CALIBRATED}{judge} written to {added[0]}")
