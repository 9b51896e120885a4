"""Protocols of ``surrogate-arena validate`` that compare many validations in one table."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from surrogate.board.settings import MOST_DRAWS
from surrogate.cli.options import (
    FILE,
    FOLDER,
    ArenaArgument,
    FeaturesOption,
    FeatureTableOption,
    JobsOption,
    JsonOption,
    OneJudgeOption,
    PresetOption,
    QuestionsOption,
    SeedOption,
    TournamentsOption,
    given_features,
    is_stated,
    split_names,
)

if TYPE_CHECKING:
    import pandas as pd

    from arena.data.arena import Arena
    from surrogate.board.settings import BoardSettings
    from surrogate.learning.surrogate import Surrogate
    from surrogate.validation import Validation
    from surrogate.validation.study import StudyTable

IMPORTANCES = "importances"
REPLICATION = "replication"
HALF = "half"
TABLE_4 = "table4"

STUDIES: Mapping[str, str] = {
    "ablation": "Unseen systems ranked by part of the features (Kendall tau, 95% interval over "
    "systems; difference from all features)",
    IMPORTANCES: "What the ranking rests on ({}, share of the surrogate's decisions; 95% intervals "
    "over tournaments)",
    "frontier": "Systems better than all learned from: share said to be so, and of others; tau "
    "among them; share of ratings inside their 90% intervals",
    REPLICATION: "Ratings by the verdicts on part of the questions against the verdicts on others "
    "(Kendall tau of both together, of verdicts and surrogate alone; 95% over systems; share "
    "inside 90% intervals)",
    TABLE_4: "All systems ranked by the paper's groups of features, two held out (Kendall tau)",
    "learning-curve": "Unseen systems ranked after learning from part of the arena (Kendall tau, "
    "95% interval over systems)",
}
"""Name of a study to the title of its table; that of importances has a place for their kinds."""

_MOST_COLUMNS = 10
"""Wider tables show the two ends of an interval in one column."""

_KINDS: Mapping[str, str] = {
    "permutation": "tau of unseen systems lost by permutation",
    "shap": "share of the mean size of Shapley values",
}


def run_study(
    name: str,
    arena: Arena,
    surrogate: Surrogate,
    shared: Mapping[str, Any],
    repeats: int | None,
    kinds: Sequence[str] | None = None,
    judged: Sequence[int | None] | None = None,
) -> StudyTable:
    """Run one of ``STUDIES``.

    Args:
        name: Name of the study.
        arena: The arena.
        surrogate: What is trained, unfitted.
        shared: Arguments that all protocols take.
        repeats: How often to split the systems; None for the study's own number.
        kinds: Kinds of importances; None for the default.
        judged: Numbers of judged questions for replication; None for the default.
    """
    from surrogate.cli.printing import progress_bar
    from surrogate.validation.ablations import ablate
    from surrogate.validation.frontier import frontier
    from surrogate.validation.importances import importances
    from surrogate.validation.learning_curves import learning_curves
    from surrogate.validation.replication import replication
    from surrogate.validation.table4 import compare_feature_groups

    studies: dict[str, Callable[..., StudyTable]] = {
        "ablation": ablate,
        IMPORTANCES: importances,
        "frontier": frontier,
        REPLICATION: replication,
        TABLE_4: compare_feature_groups,
        "learning-curve": learning_curves,
    }
    given = {} if repeats is None else {"repeats": repeats}
    chosen: dict[str, Any] = {} if kinds is None else {"kinds": kinds}
    chosen |= {} if judged is None else {"judged": judged}
    with progress_bar() as progress:
        return studies[name](arena, surrogate, **shared, **given, **chosen, progress=progress)


def study_title(name: str, study: StudyTable) -> str:
    """Return the title of a study's table."""
    return STUDIES[name].format(", ".join(_KINDS[kind] for kind in _KINDS if kind in study.table))


def print_study(title: str, study: Any, as_json: bool) -> None:  # noqa: ANN401 - has table, signature
    """Print a study's table and the settings that reproduce it."""
    from surrogate.cli import printing

    if as_json:
        printing.print_json({"table": study.table, "signature": study.signature})
        return
    wide = study.table.shape[1] > _MOST_COLUMNS
    shown = _with_spans(study.table) if wide else study.table
    printing.print_columns(title, shown, list(shown))
    print(f"Signature: {study.signature}")


def _with_spans(table: pd.DataFrame) -> pd.DataFrame:
    """Replace each pair of columns ``_low`` and ``_high`` by one."""
    from surrogate.cli.printing import shown_bounds

    shown = {}
    for name in table.columns:
        whole = name.removesuffix("_low")
        if whole != name:
            bounds = zip(table[name], table[f"{whole}_high"], strict=True)
            shown[f"{whole} 95%"] = [shown_bounds(low, high, " to ") for low, high in bounds]
        elif not name.endswith("_high"):
            shown[name] = table[name]
    return table.assign(**shown)[list(shown)]


TABLE_3 = "table3"

SurrogateOption = Annotated[
    str | None,
    typer.Option(
        "--surrogate",
        help="Surrogate to validate, gaussian-process by default; for table3, comma-separated "
        "ones, by default those of the paper.",
    ),
]


def validate_command(
    context: typer.Context,
    arena: ArenaArgument,
    protocol: Annotated[
        str,
        typer.Option(
            "--protocol",
            help="leave-systems-out, leave-families-out (all of a laboratory or model at once), "
            "leave-language-out, transfer, mirage (two systems held out, all "
            "ranked), table3 (R² of surrogates), table4 (the paper's groups of features, two "
            "systems held out, all ranked), ablation (part of the features), importances (of "
            "features), frontier (the best systems rated by surrogates of the others), replication "
            "(half of the questions against the other half) or learning-curve (part of the arena).",
        ),
    ] = "leave-systems-out",
    preset: PresetOption = None,
    surrogate: SurrogateOption = None,
    features: FeaturesOption = "default",
    feature_table: FeatureTableOption = None,
    judge: OneJudgeOption = None,
    test: Annotated[
        Path | None, typer.Option("--test", help="Arena folder to rank, for transfer.", **FOLDER)
    ] = None,
    test_judge: Annotated[
        str | None, typer.Option("--test-judge", help="Judge of the test arena.")
    ] = None,
    test_feature_table: Annotated[
        Path | None,
        typer.Option("--test-feature-table", help="Feature table of the test arena.", **FILE),
    ] = None,
    holdout: Annotated[
        str | None,
        typer.Option(
            "--holdout", help="For mirage and table4: comma-separated systems to hold out."
        ),
    ] = None,
    importances: Annotated[
        str | None,
        typer.Option(
            "--importances",
            help="For importances: permutation (the default), shap or, comma-separated, both.",
        ),
    ] = None,
    judged: Annotated[
        str | None,
        typer.Option(
            "--judged",
            help="For replication: comma-separated numbers of judged questions to learn from in "
            "each language, half for the whole half (the default).",
        ),
    ] = None,
    repeats: Annotated[
        int | None,
        typer.Option(
            "--repeats", min=1, max=MOST_DRAWS, help="Repeats; by default the protocol's."
        ),
    ] = None,
    tournaments: TournamentsOption = 50,
    questions: QuestionsOption = 100,
    ties: Annotated[str, typer.Option("--ties", help="How ties count: half or drop.")] = "half",
    ridge: Annotated[
        float, typer.Option("--ridge", min=0, help="Precision of the prior on coefficients.")
    ] = 0.1,
    rows: Annotated[
        str, typer.Option("--rows", help="Training rows: system, overall or question.")
    ] = "system",
    missing: Annotated[
        str, typer.Option("--missing", help="How a missing value of a feature counts: nan or zero.")
    ] = "nan",
    seed: SeedOption = 0,
    jobs: JobsOption = -1,
    as_json: JsonOption = False,
) -> None:
    """Say how well a surrogate ranks systems, languages or questions it was not trained on."""
    from arena.data.errors import UsageError
    from arena.data.folder import read_arena

    if importances is not None and protocol != IMPORTANCES:
        raise UsageError(f"--importances is for the protocol {IMPORTANCES}, not {protocol}")
    if judged is not None and protocol != REPLICATION:
        raise UsageError(f"--judged is for the protocol {REPLICATION}, not {protocol}")
    kinds = None if importances is None else split_names(importances)
    given = {
        **{"surrogate": surrogate, "features": features, "rows": rows, "missing": missing},
        **{"tournaments": tournaments, "questions": questions, "ties": ties, "ridge": ridge},
    }
    stated = {name: value for name, value in given.items() if is_stated(context, name)}
    chosen = _settings(preset, stated, protocol)
    read = read_arena(arena)
    read.judged_by(judge)  # refused before what is slow to load

    from features.measures.registry import parse_features
    from surrogate.cli.printing import progress_bar
    from surrogate.learning.names import find_surrogate
    from surrogate.validation import TournamentSettings
    from surrogate.validation import validate as validate_arena
    from surrogate.validation.table3 import REPEATS, compare_surrogates

    shared: dict[str, Any] = {
        "features": parse_features(",".join(chosen.features)),
        "judge": judge,
        "feature_table": given_features(feature_table),
        "tournaments": TournamentSettings(
            chosen.tournaments, chosen.questions, chosen.ties, chosen.ridge, seed
        ),
        "n_jobs": jobs,
    }
    if protocol == TABLE_3:
        with progress_bar() as progress:
            compared = compare_surrogates(
                *(read, _compared(surrogate, preset, chosen)),
                **shared,
                repeats=repeats or REPEATS,
                progress=progress,
            )
        print_study("R² of surrogates", compared, as_json)
        return
    trained = find_surrogate(chosen.surrogate, rows=chosen.rows, missing=chosen.missing)
    if protocol in STUDIES:
        if holdout is not None and protocol == TABLE_4:
            shared["holdout"] = split_names(holdout)
        study = run_study(protocol, read, trained, shared, repeats, kinds, _numbers(judged))
        print_study(study_title(protocol, study), study, as_json)
        return
    with progress_bar() as progress:
        validated = validate_arena(
            read,
            protocol,
            trained,
            **shared,
            repeats=repeats,
            test_arena=None if test is None else read_arena(test),
            test={"judge": test_judge, "feature_table": given_features(test_feature_table)},
            holdout=None if holdout is None else split_names(holdout),
            progress=progress,
        )
    _print_validation(validated, as_json)


def _numbers(judged: str | None) -> list[int | None] | None:
    """Read numbers of judged questions, such as ``6,12,half``."""
    from arena.data.errors import UsageError

    if judged is None:
        return None
    items = split_names(judged) or []
    wrong = [item for item in items if item != HALF and not (item.isdecimal() and int(item) > 0)]
    if wrong:
        raise UsageError(f"--judged {wrong[0]}: give numbers from 1 on, or {HALF}")
    return [None if item == HALF else int(item) for item in items]


def _settings(preset: str | None, stated: Mapping[str, Any], protocol: str) -> BoardSettings:
    """Return what is stated, over the preset or over what validations have by default."""
    from surrogate.board.settings import PRESET, chosen_settings
    from surrogate.validation.study import DEFAULT_TOURNAMENTS

    own = {name: value for name, value in stated.items() if value is not None}
    if protocol == TABLE_3:
        own.pop("surrogate", None)  # these are several
    default = {"tournaments": DEFAULT_TOURNAMENTS} if preset is None else {}
    return chosen_settings(None, {PRESET: preset, **default, **own})


def _compared(names: str | None, preset: str | None, chosen: BoardSettings) -> list[Surrogate]:
    """Return the surrogates of table 3, unfitted."""
    from surrogate.learning.names import (
        PLAIN_TABLE_3_SURROGATES,
        TABLE_3_SURROGATES,
        find_surrogate,
    )

    papers = TABLE_3_SURROGATES if preset is None else PLAIN_TABLE_3_SURROGATES
    listed = papers if names is None else split_names(names)
    return [find_surrogate(name, rows=chosen.rows, missing=chosen.missing) for name in listed]


def _print_validation(validated: Validation, as_json: bool) -> None:
    from surrogate.cli import printing

    if as_json:
        printing.print_json(validated.as_json())
        return
    languages = [(name, item) for name, item in sorted(validated.per_language.items())]
    header = ["language", "tau", "low", "high", "pairwise accuracy", "R²", "systems"]
    rows = [
        [
            *(name, item.tau, item.tau_low, item.tau_high),
            *(item.pairwise_accuracy, item.r2, item.n_systems),
        ]
        for name, item in [*languages, ("macro", validated.scores)]
    ]
    printing.print_table(
        f"Agreement of {validated.surrogate} with the arena: {validated.protocol} (Kendall tau, "
        "95% interval over systems)",
        header,
        rows,
    )
    for name, item in languages:
        if item.reason:
            print(f"Note ({name}): {item.reason}")
    print(f"Signature: {validated.signature}")
