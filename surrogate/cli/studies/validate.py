"""``surrogate-arena validate``: how well a surrogate ranks what it has not seen."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from surrogate.board.settings import MOST_DRAWS, PRESET, BoardSettings, chosen_settings
from surrogate.cli.options import (
    ArenaArgument,
    FeatureTableOption,
    JobsOption,
    JsonOption,
    OneJudgeOption,
    PresetOption,
    given_features,
    split_names,
    with_settings,
)

if TYPE_CHECKING:
    import pandas as pd

    from surrogate.learning.surrogate import Surrogate

MOST_COLUMNS = 10
"""Wider tables show the two ends of an interval in one column."""
DEFAULT, TABLE_3, HALF = "leave-systems-out", "table3", "half"
SHOWN = ("surrogate", "features", "tournaments", "seed")
TITLES: Mapping[str, str] = {
    TABLE_3: "R² of surrogates",
    "table4": "All systems ranked by the paper's groups of features, two held out (Kendall tau)",
    "ablation": "Unseen systems ranked by part of the features (Kendall tau, 95% interval over "
    "systems; difference from all features)",
    "importances": "What the ranking rests on (tau of unseen systems lost by permutation, share of "
    "the surrogate's decisions; 95% intervals over tournaments)",
    "learning-curve": "Unseen systems ranked after learning from part of the arena (Kendall tau, "
    "95% interval over systems)",
    "frontier": "Systems better than all learned from: share said to be so, and of others; tau "
    "among them; share of ratings inside their 90% intervals",
    "replication": "Ratings by the verdicts on part of the questions against the verdicts on "
    "others (Kendall tau of both together, of verdicts and surrogate alone; 95% over systems; "
    "share inside 90% intervals)",
}
OTHER_TITLE = "Agreement with the arena: {} (Kendall tau, 95% interval over systems)"


@with_settings(BoardSettings, leave_out=("judge", "holdout", "ratings"), shown=SHOWN)
def validate_command(
    arena: ArenaArgument,
    settings: BoardSettings,
    protocol: Annotated[
        str,
        typer.Option(
            "--protocol",
            help="leave-systems-out, leave-language-out, mirage (two systems held out, all "
            "ranked), table3 (R² of surrogates), table4 (the paper's groups of features, two "
            "systems held out, all ranked), ablation (part of the features), importances (of "
            "features), frontier (the best systems rated by surrogates of the others), replication "
            "(half of the questions against the other half) or learning-curve (part of the arena).",
        ),
    ] = DEFAULT,
    preset: PresetOption = None,
    feature_table: FeatureTableOption = None,
    judge: OneJudgeOption = None,
    holdout: Annotated[
        str | None,
        typer.Option(
            "--holdout", help="For mirage and table4: comma-separated systems to hold out."
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
        typer.Option("--repeats", min=1, max=MOST_DRAWS, help="Default: the protocol's own."),
    ] = None,
    jobs: JobsOption = -1,
    as_json: JsonOption = False,
) -> None:
    """Say how well a surrogate ranks systems, languages or questions it was not trained on."""
    from arena.data.folder import read_arena

    read = read_arena(arena)
    read.judged_by(judge)  # refused before what is slow to load

    from features.measures.registry import parse_features
    from surrogate.cli import printing
    from surrogate.learning.languages import TournamentSettings
    from surrogate.validation import validate
    from surrogate.validation.study import DEFAULT_TOURNAMENTS

    stated = {name: getattr(settings, name) for name in settings.model_fields_set}
    names = stated.pop("surrogate", None) if protocol == TABLE_3 else None
    default = {"tournaments": DEFAULT_TOURNAMENTS} if preset is None else {}
    chosen = chosen_settings(None, {PRESET: preset, **default, **stated})
    options: dict[str, Any] = (
        {}
        if "features" not in stated and preset is None
        else {"features": parse_features(",".join(chosen.features))}
    )
    with printing.progress_bar() as progress:
        study = validate(
            *(read, protocol, _surrogates(protocol, names, preset, chosen), repeats),
            **options,
            holdout=None if holdout is None else split_names(holdout),
            judged=_numbers(judged),
            judge=judge,
            feature_table=given_features(feature_table),
            tournaments=TournamentSettings(
                *(chosen.tournaments, chosen.questions, chosen.ties, chosen.ridge, chosen.seed)
            ),
            n_jobs=jobs,
            progress=progress,
        )
    if as_json:
        printing.print_json({"table": study.table, "signature": study.signature})
        return
    wide = study.table.shape[1] > MOST_COLUMNS
    shown = _with_spans(study.table) if wide else study.table
    title = TITLES.get(protocol, OTHER_TITLE.format(protocol))
    printing.print_columns(title, shown, list(shown))
    print(f"Signature: {study.signature}")


def _surrogates(
    protocol: str, names: str | None, preset: str | None, chosen: BoardSettings
) -> Surrogate | list[Surrogate]:
    """Return the surrogate to validate, unfitted; for table 3 those that are compared."""
    from surrogate.learning.names import (
        PLAIN_TABLE_3_SURROGATES,
        TABLE_3_SURROGATES,
        find_surrogate,
    )

    if protocol != TABLE_3:
        return find_surrogate(chosen.surrogate, rows=chosen.rows, missing=chosen.missing)
    papers = TABLE_3_SURROGATES if preset is None else PLAIN_TABLE_3_SURROGATES
    listed = papers if names is None else split_names(names)
    return [find_surrogate(name, rows=chosen.rows, missing=chosen.missing) for name in listed]


def _numbers(judged: str | None) -> list[int | None] | None:
    """Read numbers of judged questions, such as ``6,12,half``."""
    from arena.data.errors import UsageError

    if judged is None:
        return None
    items = split_names(judged)
    wrong = [item for item in items if item != HALF and not (item.isdecimal() and int(item) > 0)]
    if wrong:
        raise UsageError(f"--judged {wrong[0]}: give numbers from 1 on, or {HALF}")
    return [None if item == HALF else int(item) for item in items]


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
