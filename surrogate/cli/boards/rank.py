"""``surrogate-arena rank``: place new systems on an existing board."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from surrogate.cli.options import (
    AnswersArgument,
    BatchSizeOption,
    BoardOption,
    DeviceOption,
    DownloadOption,
    FeatureTableOption,
    JobsOption,
    JsonOption,
    MovedArenaOption,
    TemplatesOption,
    given_features,
)
from surrogate.cli.targets import OUT_FILE

if TYPE_CHECKING:
    from surrogate.ranking.rank import RankedSystems

NONE_RANKED = 1
"""Exit status where no new system has a rank."""
SHOWN_ATTRIBUTIONS = 3


def rank(
    answers: AnswersArgument,
    board: BoardOption,
    arena: MovedArenaOption = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", help="CSV file for the board with the new systems.", **OUT_FILE),
    ] = None,
    feature_table: FeatureTableOption = None,
    judgments: Annotated[
        Path | None,
        typer.Option(
            "--judgments",
            help="Judgments of the new systems, beside systems on the board or each other: they "
            "are rated by these and their answers together.",
            exists=True,
        ),
    ] = None,
    jobs: JobsOption = 1,
    device: DeviceOption = "auto",
    batch_size: BatchSizeOption = 32,
    download: DownloadOption = False,
    templates: TemplatesOption = None,
    as_json: JsonOption = False,
) -> None:
    """Place new systems on a board; its rows stay as they are, and no LLM is called."""
    from arena.adapters.judgments import read_judgments
    from arena.data.files import write_text
    from arena.data.folder import read_answers, read_arena
    from arena.data.rows import write_rows
    from arena.data.wording import guarded_csv
    from arena.text.prompts import read_templates
    from features.models import FEATURE_PROMPTS, ModelOptions
    from surrogate.board.board import Board
    from surrogate.ranking.rank import rank_systems

    own = read_templates(templates or (), FEATURE_PROMPTS)
    published = Board.load(board)
    read = read_arena(arena or published.arena_folder())
    models = ModelOptions(device, batch_size, download, templates=own)
    placed = rank_systems(
        published,
        read_answers(answers, read.queries),
        read,
        jobs,
        models,
        feature_table=given_features(feature_table),
        judgments=None if judgments is None else read_judgments(judgments, read.queries),
    )
    if out is not None:
        if out.name.endswith(".csv"):
            write_text(guarded_csv(placed.board), out)
        else:
            write_rows(placed.board, out)
    _print_ranked(placed, as_json)
    if placed.new["rank"].isna().all():
        raise SystemExit(NONE_RANKED)


def _print_ranked(placed: RankedSystems, as_json: bool) -> None:
    from arena.data.rows import plain_records
    from surrogate.cli import printing

    new = set(placed.new["system"])
    if as_json:
        both = plain_records(printing.bounded(placed.new)), plain_records(placed.explanations)
        printing.print_json(
            {
                "new": [row | explanation for row, explanation in zip(*both, strict=True)],
                "board": printing.bounded(placed.board),
                "overall": placed.overall,
                "notes": placed.notes,
            }
        )
        return
    for note in placed.notes:
        print(f"Note: {note}")
    languages = placed.board["language"].nunique()
    whole, title = (
        (placed.overall, "mean rank over languages")
        if languages > 1
        else (
            placed.board,
            "one language",
        )
    )
    marked = whole.assign(new=["new" if system in new else "" for system in whole["system"]])
    columns = ["rank", "new", "system", "mean_rank" if languages > 1 else "rating"]
    if languages == 1:
        columns.append("verdict_share")
    title = f"Board with the new systems, {title}"
    printing.print_columns(title, marked, [*columns, "coverage"])
    _print_new(placed)
    _print_explanations(placed)


def _print_new(placed: RankedSystems) -> None:
    from surrogate.board.ratings.intervals import LEVEL
    from surrogate.cli import printing
    from surrogate.publish.formats import percent

    new = placed.new
    ranked = placed.board.groupby("language")["rank"].count()
    rows = new.assign(
        of=new["language"].map(ranked),
        ranks=[
            printing.shown_bounds(low, high, "–")
            for low, high in zip(new["rank_low"], new["rank_high"], strict=True)
        ],
        interval=[
            printing.shown_bounds(low, high, " to ", printing.two_decimals)
            for low, high in zip(new["low"], new["high"], strict=True)
        ],
        rating=new["rating"].map(printing.two_decimals),
        own=new["verdict_share"].map(percent),
        surrogate=new["surrogate_rating"].map(printing.two_decimals),
        coverage=new["coverage"].map(percent),
    )
    columns = ["language", "system", "rank", "of", "ranks", "rating", "interval"]
    if (new["judgments"] > 0).any():
        columns += ["judgments", "own", "surrogate"]
    columns += ["coverage"] if (new["coverage"] < 1).any() else []
    columns += ["note"] if (new["note"] != "").any() else []
    by = "verdicts and surrogate" if "judgments" in columns else "the surrogate"
    title = f"New systems, language by language: ratings by {by}, with {LEVEL:.0%} intervals"
    if "own" in columns:
        title += "; the share that is by a system's own verdicts; the rating by the surrogate alone"
    printing.print_columns(title, rows, columns)


def _print_explanations(placed: RankedSystems) -> None:
    """Print what moved each rating, and which systems are most alike."""
    from surrogate.cli import printing

    found = placed.explanations
    has_some = found["attributions"].map(bool) | found["neighbors"].map(bool)
    explained = found[has_some]
    if explained.empty:
        return
    rows = explained.assign(
        attributions=[
            ", ".join(
                f"{entry['feature']} {entry['contribution']:+.2f}"
                for entry in entries[:SHOWN_ATTRIBUTIONS]
            )
            for entries in explained["attributions"]
        ],
        **{
            title: [", ".join(str(entry["neighbor"]) for entry in entries) for entries in lists]
            for title, lists in (
                ("nearest_by_features", explained["neighbors"]),
                ("nearest_by_answers", explained["answer_neighbors"]),
            )
        },
    )
    columns = ["language", "system", "attributions", "nearest_by_features"]
    if explained["answer_neighbors"].map(bool).any():
        columns.append("nearest_by_answers")
    title = "What moved their ratings (logits), and the systems nearest to them"
    printing.print_columns(title, rows, columns)
