"""How well surrogates rank what they have not seen: ``validate``."""

from __future__ import annotations

import re
from typing import Annotated, Any

from typer import Option

from arena.data.errors import checked_choice
from surrogate.board.settings import MOST_DRAWS, BoardSettings
from surrogate_arena.cli import options as opt
from surrogate_arena.cli.options import given_features
from surrogate_arena.cli.printing import progress_lines, show, with_spans
from surrogate_arena.cli.setting_options import takes_settings


@takes_settings(BoardSettings, "judge")
def validate_command(
    arena: opt.Arena,
    settings: BoardSettings,
    protocol: Annotated[
        str,
        Option(
            help="leave-systems-out, leave-families-out (systems of one family of models "
            "together), leave-best-out (the best fifth), leave-language-out, table3 (R² of "
            "surrogates), table4 (the paper's groups of "
            "features, two systems held out, all ranked), ablation (part of the features), "
            "replication (half of the questions against the other half), learning-curve (part of "
            "the arena) or sampling (verdicts alone: fewer questions, or fewer pairs, against all "
            "of them)."
        ),
    ] = "leave-systems-out",
    preset: opt.Preset = None,
    surrogate: Annotated[
        str | None, Option(help="Surrogate, or several to compare, comma-separated.")
    ] = None,
    feature_table: opt.FeatureTable = None,
    repeats: Annotated[
        int | None, Option(min=1, max=MOST_DRAWS, help="Default: the protocol's")
    ] = None,
    tournaments: Annotated[
        int | None,
        Option(
            min=1,
            max=MOST_DRAWS,
            help="Bootstrapped tournaments per language. Default: 50, or the preset's",
        ),
    ] = None,
    jobs: opt.Jobs = -1,
    _cluster: opt.Cluster = None,
    as_json: opt.Json = False,
) -> None:
    """Measure how well a surrogate ranks systems, with systems, languages or questions held out."""
    from arena.data.folder import read_arena
    from surrogate_arena.studies import PROTOCOLS, validate

    checked_choice(protocol, list(PROTOCOLS), "protocol")
    read = read_arena(arena)
    options: dict[str, Any] = {
        "settings": settings,
        "preset": preset,
        "feature_table": given_features(feature_table, read.answers),
        "n_jobs": jobs,
        "progress": progress_lines(),
    }
    if tournaments is not None:
        options["tournaments"] = tournaments
    surrogates: list[str] | None = None
    if surrogate is not None:
        # Commas in brackets separate the parameters of one.
        surrogates = re.split(r"\s*,\s*(?![^()]*\))", surrogate.strip())
    study = validate(read, protocol, surrogates, repeats, **options)
    _show_study(study, protocol, as_json)


NEGATIVE_R2 = (
    "R² below 0: the expected ratings are further from those by verdicts than one number for all "
    "systems is. Tau may be high all the same, where the order is right and the scale is not"
)


def _show_study(study: Any, protocol: str, as_json: bool) -> None:  # noqa: ANN401 - of any protocol
    if as_json:
        show(vars(study), as_json)
        return
    # A terminal of 80 columns has no room for these; --json has them.
    wide_columns = {"replication": ["questions", "judgments"]}
    table = study.table.drop(columns=wide_columns.get(protocol, []))
    reasons: dict[str, None] = {}
    if "reason" in table:
        # Rows of a study share reasons: each is printed once.
        for joined_reasons in table.pop("reason").unique():
            reasons |= dict.fromkeys(filter(None, joined_reasons.split("; ")))
    r2_columns = [name for name in table if "r2" in name]
    if (table[r2_columns] < 0).any(axis=None):
        reasons[NEGATIVE_R2] = None
    content = {
        "table": with_spans(table),
        "differences": with_spans(study.differences),
        "notes": study.notes,
        "signature": study.signature,
        "reasons": list(reasons),
    }
    # Table 3 has neither a tau nor an interval.
    title = f"{protocol} (taus are Kendall's, intervals 95%)" if "tau" in table else protocol
    show(content, as_json, {"table": title})
