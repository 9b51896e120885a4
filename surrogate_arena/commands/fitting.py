"""Ratings by judgments alone: ``fit``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

from typer import Option

from arena.data.errors import UsageError
from arena.data.wording import Remark, count_of
from surrogate_arena.cli import options as opt
from surrogate_arena.cli.folders import has_folder
from surrogate_arena.cli.options import named_columns
from surrogate_arena.cli.printing import INTERVAL, show, spans, with_spans

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd

    from arena.quality.judge_report import JudgeLabel
    from arena.rating.biases import JudgeBias
    from arena.rating.ratings import Ratings
    from surrogate_arena.importers.judgments import CountedJudgments

MOST_LISTED = 300
"""Systems whose pairs are listed in JSON; in Python there is no bound."""
TRAITS_OF: Mapping[str, tuple[str, ...]] = {
    "length": ("length",),
    "style": ("length", "lists", "headings", "bold"),
}
"""Value of ``--equal`` to the traits that it stands for."""


def fit(
    judgments: opt.JudgmentsSource,
    judge: Annotated[
        str | None, Option(help="Judge to use; or several, comma-separated, as one; or all.")
    ] = None,
    language: Annotated[
        str | None, Option(help="Language, or all. Required if there are several.")
    ] = None,
    by: Annotated[
        str | None,
        Option(
            help="Column of the file or of the questions: rate each part and all "
            "together, sharing what parts have in common."
        ),
    ] = None,
    columns: opt.Columns = None,
    values: opt.Values = None,
    no_sides: opt.NoSides = False,
    ties: Annotated[str, Option(help="half or drop.")] = "half",
    ridge: Annotated[
        float | None,
        Option(
            min=0,
            help="Precision of the prior, in a plain model without judges' biases. "
            "Default: averaged over priors",
        ),
    ] = None,
    equal: Annotated[
        str | None,
        Option(
            help="Rate as if all answers were alike in length, style (length, lists, "
            "headings, bold), or counts in columns of the file, such as tokens "
            "for tokens_a and tokens_b; comma-separated."
        ),
    ] = None,
    seed: opt.Seed = 0,
    as_json: opt.Json = False,
) -> None:
    """Rate systems from pairwise judgments (Bradley-Terry), with intervals and tied ranks."""
    from arena.data.schema import ALL
    from arena.rating.judgments import selected_judgments
    from surrogate.board.ranks import without_ranks
    from surrogate_arena.cli.judging_records import labels_of_verdicts

    if by is not None and ridge is not None:
        raise UsageError("`--ridge` is for one part; leave it or `--by` out")
    read, counted = _read(
        judgments,
        _named_traits(equal),
        columns=named_columns(columns),
        values=values or (),
        no_sides=no_sides,
        further=[by] if by else [],
    )
    if by == "language":
        language = ALL
    choices: dict[str, Any] = {"language": language, "judge": judge, "ties": ties, "seed": seed}
    rated, parts = _rated(counted, by, ridge, choices)
    selected = selected_judgments(read.table, language or ALL, judge or ALL)
    labels = labels_of_verdicts(judgments, read.table, selected["judge"].unique())
    table = rated.table
    is_one_sided = all(label.is_one_sided for label in labels)
    if is_one_sided:
        table = without_ranks(table)
        parts = None if parts is None else without_ranks(parts)
    shown = {
        "ratings": table if as_json else _shown_ratings(table),
        "parts": parts if as_json or parts is None else _shown_ratings(parts),
        "biases": _bias_table(rated.biases) if as_json else with_spans(_bias_table(rated.biases)),
        "understood": list(read.understood),
        "skipped": read.skipped,
        "remarks": _remarks(labels, rated, selected, len(read.table) - len(counted)),
        "signature": rated.signature,
    }
    if as_json:
        shown["judges"] = labels
        shown.update({} if is_one_sided else _compared(rated))
    titles = {
        "biases": "What judges like besides quality: logits that it adds (95% interval)",
        "understood": "Understood",
        "skipped": "Left out or changed on reading",
    }
    show(shown, as_json, titles)


def _named_traits(names: str | None) -> tuple[str, ...]:
    """Split a list of traits at commas; ``style`` stands for its traits."""
    traits: dict[str, None] = {}
    for name in filter(None, map(str.strip, (names or "").split(","))):
        traits.update(dict.fromkeys(TRAITS_OF.get(name, (name,))))
    return tuple(traits)


def _bias_table(biases: Sequence[JudgeBias]) -> pd.DataFrame:
    """List biases: columns ``judge, trait, logits, low, high``."""
    import pandas as pd

    rows = [(bias.judge, bias.trait, bias.coefficient, *bias.bounds) for bias in biases]
    return pd.DataFrame(rows, columns=["judge", "trait", "logits", "low", "high"])


def _read(
    judgments: Path,
    traits: Sequence[str],
    **options: Any,  # noqa: ANN401 - of counted_judgments_of
) -> tuple[CountedJudgments, pd.DataFrame]:
    from arena.data.folder import read_arena
    from arena.data.schema import INFO_FILE
    from arena.rating.biases import TRAIT
    from surrogate_arena.importers.answer_traits import COUNTED, with_traits
    from surrogate_arena.importers.judgments import counted_judgments_of

    # An arena has the answers themselves; a file may have counts of them.
    is_arena = (judgments / INFO_FILE).is_file()
    measured = [name for name in traits if is_arena and name in COUNTED]
    counted = [name for name in traits if name not in measured]
    read = counted_judgments_of(judgments, traits=counted, **options)
    table = read.table
    if measured:
        table = with_traits(table, read_arena(judgments).answers, measured)
    # An answer that is absent has no traits.
    return read, table.dropna(subset=[f"{TRAIT}{name}" for name in traits])


def _rated(
    counted: pd.DataFrame,
    by: str | None,
    ridge: float | None,
    choices: Mapping[str, Any],
) -> tuple[Ratings, pd.DataFrame | None]:
    if by is None:
        from arena.rating.ratings import rate

        return rate(counted, ridge=ridge, **choices), None

    from surrogate_arena.diagnosis.parts import rate_parts

    rated = rate_parts(counted, by, **choices)
    return rated, rated.parts


def _remarks(
    labels: Sequence[JudgeLabel], rated: Ratings, selected: pd.DataFrame, n_left_out: int
) -> list[Remark]:
    # Of many judges, such as thousands of voters, the first ones are described.
    remarks = [label.remark for label in labels[:5]]
    if n_left_out:
        judgments = count_of(n_left_out, "judgment")
        sentence = f"{judgments} left out: an answer, or its count, is absent"
        remarks.append(Remark("traits", "warning", sentence, statistic=n_left_out))
    remarks += rated.remarks
    if any(remark.name == "sides" for remark in rated.remarks):
        sentence = "if the columns say nothing of who was shown first, add --no-sides"
        remarks.append(Remark("sides", "info", sentence))
    if has_folder("diagnosis"):
        from surrogate_arena.diagnosis.decisive_voters import decisive_voters
        from surrogate_arena.diagnosis.reversed_orders import pooling_remarks

        remarks += pooling_remarks(selected, rated)
        remarks += decisive_voters(selected)
    return remarks


def _compared(rated: Ratings) -> dict[str, object]:
    """Return how the ratings vary together, and every two systems compared; of few systems."""
    covariance = rated.covariance
    if len(covariance) > MOST_LISTED:
        return {}
    matrix = covariance.to_numpy().tolist()
    return {
        "covariance": {"systems": list(covariance), "matrix": matrix},
        "pairs": rated.pairs(),
    }


def _shown_ratings(ratings: pd.DataFrame) -> pd.DataFrame:
    from surrogate_arena.cli.shown_numbers import open_ranks

    columns = ["place", "system", "rating", INTERVAL, "tier", "wins", "losses", "ties"]
    if "part" in ratings:
        columns.insert(0, "part")
    elif ratings["group"].nunique() > 1:
        columns.insert(0, "group")
    if ratings["note"].any():
        columns.append("note")
    places = [open_ranks(row) for row in ratings.to_dict("records")]
    return ratings.assign(**{"place": places, INTERVAL: spans(ratings)})[columns]
