"""Whether ranks can be bought without a note, and whether honest habits cost one.

    python benchmarks/gaming.py ARENA ... [--judge J] [--systems 3] [--questions 40] [--real]
        [--judged N] [--draw 1]

A board without some system places it in all forms of ``gaming_forms.py``: honest habits,
answers that are none, manipulations. Prints how many of each keep no rank, have a note, rise by a
tenth of the field by the surrogate's rating, and rise without a note. With ``--real``, every system
is left out and placed as it is; this says how many ordinary systems have a note. ``--judged`` draws
so many of an arena's systems and leaves the others out (``--draw`` is the seed).
"""

from __future__ import annotations

import argparse
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
from gaming_answers import Material
from gaming_forms import AS_IS, KINDS, OF_PASSAGES

from arena import Arena, rate, read_arena
from arena.simulation import simulated_arena
from surrogate import build_board, rank_systems

SIMULATED = "simulated"
TOURNAMENTS = 5
RISE = 0.1
"""Share of the board's places that a manipulated system must gain to count as risen."""
SHOWN = {
    "cases": ("refused", "size"),
    "refused": ("refused", "mean"),
    "noted": ("noted", "mean"),
    "risen": ("rises", "sum"),
    "risen_unnoted": ("rises_unnoted", "sum"),
}


def main() -> None:
    options = read_options()
    rows: list[dict[str, object]] = []
    for name in options.arenas:
        arena = simulated_arena() if name == SIMULATED else read_arena(name)
        arena = fewer_questions(arena.judged_by(options.judge), options.questions)
        if options.judged is not None:
            arena = fewer_systems(arena, options.judged, options.draw)
        order = ordered_systems(arena)
        if options.real:
            rows += real_systems(arena, order)
        else:
            rows += changed_systems(arena, order, options.systems)
        print(f"{arena.info.name}: {len(rows)} cases", flush=True)
    table = pd.DataFrame(rows)
    if options.json is not None:
        table.to_json(options.json, orient="records", indent=1)
    for columns in (["kind", "form"], ["kind", "arena"], ["kind"]):
        means = table.groupby(columns, sort=False).agg(**SHOWN)
        print(f"\n{means.to_string(float_format='{:.3f}'.format)}")


def read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("arenas", nargs="+")
    parser.add_argument("--judge")
    parser.add_argument("--systems", type=int, default=3, help="of an arena that are changed")
    parser.add_argument("--questions", type=int, default=40, help="of a language, at most")
    parser.add_argument("--judged", type=int, help="systems of an arena, drawn at random")
    parser.add_argument("--draw", type=int, default=1)
    parser.add_argument("--real", action="store_true", help="place every system as it is")
    parser.add_argument("--json", type=Path)
    return parser.parse_args()


def fewer_questions(arena: Arena, most: int) -> Arena:
    """Keep some questions of each language, so that the study ends."""
    order = arena.queries.sample(frac=1, random_state=0).groupby("language").head(most)
    keys = order[["language", "query_id"]]
    return replace(
        arena,
        queries=arena.queries.merge(keys),
        answers=arena.answers.merge(keys),
        judgments=arena.judgments.merge(keys),
    )


def fewer_systems(arena: Arena, n_systems: int, draw: int) -> Arena:
    """Draw some of the judged systems, for a smaller arena."""
    rng = np.random.default_rng(draw)
    return of_systems(arena, rng.permutation(ordered_systems(arena))[:n_systems])


def of_systems(arena: Arena, systems: Collection[str]) -> Arena:
    """Keep some systems and the judgments between them."""
    rows = arena.judgments
    names = tuple(name for name in arena.info.systems if name in systems)
    return replace(
        arena,
        info=arena.info.model_copy(update={"systems": names}),
        answers=arena.answers[arena.answers["system"].isin(systems)],
        judgments=rows[rows["system_a"].isin(systems) & rows["system_b"].isin(systems)],
    )


def ordered_systems(arena: Arena) -> list[str]:
    """Return the judged systems by their mean rank in the arena, best first."""
    tables = [rate(rows).table for _, rows in arena.judgments.groupby("language")]
    ranks = pd.concat(tables).groupby("system")["rank"].mean()
    return [str(name) for name in ranks.sort_values(kind="stable").index]


def real_systems(arena: Arena, order: Sequence[str]) -> list[dict[str, object]]:
    """Place each system as it is on a board without it."""
    rows = []
    for system in order:
        answers = arena.answers[arena.answers["system"] == system]
        placed = placed_on_board(arena, system, answers)
        for row in placed.itertuples():
            rows.append(case(arena, system, row.note_measures, row.is_refused))
    return rows


def changed_systems(arena: Arena, order: Sequence[str], n_systems: int) -> list[dict[str, object]]:
    """Place some systems below the best third, in every form, on boards without them."""
    rows = []
    indices = np.linspace(len(order) / 3, len(order) - 1, n_systems).round().astype(int)
    for index in np.unique(indices):
        system = order[index]
        placed = placed_on_board(arena, system, all_forms(arena, system, order))
        for _, forms in placed.groupby("language"):
            (honest_place,) = forms.loc[forms["system"] == AS_IS, "place"]
            for form in forms.itertuples():
                gain = honest_place - form.place
                rises = not form.is_refused and gain >= RISE * form.n_judged
                measures = form.note_measures
                rows.append(case(arena, system, measures, form.is_refused, form.system, rises))
    return rows


def case(
    arena: Arena,
    system: str,
    measures: Sequence[str],
    is_refused: bool,
    form: str = "real systems: as it is",
    rises: bool = False,
) -> dict[str, object]:
    kind, name = form.split(": ", maxsplit=1)
    return {
        "arena": arena.info.name,
        "kind": kind,
        "form": name,
        "system": system,
        "refused": is_refused,
        "noted": bool(measures),
        "notes": ", ".join(measures),
        "rises": rises,
        "rises_unnoted": rises and not measures,
    }


def placed_on_board(arena: Arena, system: str, forms: pd.DataFrame) -> pd.DataFrame:
    """Place answers on a board without a system, by the surrogate's rating.

    So they have a place where a board ranks nobody without verdicts, too.

    Returns:
        Columns ``language, system, place`` (judged systems with a higher rating), ``n_judged``,
        ``note_measures`` (what is seen in its answers) and ``is_refused``.
    """
    arena_without = of_systems(arena, set(arena.info.systems) - {system})
    board = build_board(arena_without, tournaments=TOURNAMENTS)
    ranked = rank_systems(board, forms, arena_without)
    table = ranked.new.merge(ranked.explanations, on=["language", "system"])
    board_ratings = board.ratings.set_index("language")["rating"]
    placed = []
    for row in table.itertuples():
        ratings = board_ratings.loc[[row.language]]
        has_rating = np.isfinite(row.surrogate_rating)
        placed.append(
            {
                "language": row.language,
                "system": row.system,
                "place": (ratings > row.surrogate_rating).sum() if has_rating else np.inf,
                "n_judged": len(ratings),
                "note_measures": [note["measure"] for note in row.seen],
                "is_refused": any(note["is_bar"] for note in row.seen),
            }
        )
    return pd.DataFrame(placed)


def all_forms(arena: Arena, system: str, order: Sequence[str]) -> pd.DataFrame:
    """Return the answers of a system in all forms, each as a system of its own."""
    parts = []
    answers = arena.answers[arena.answers["system"] == system]
    for language, rows in answers.groupby("language"):
        material = material_of(arena, rows, str(language), order)
        for name, texts in forms_of(material):
            parts.append(rows.assign(system=name, answer=texts))
    return pd.concat(parts, ignore_index=True)


def material_of(
    arena: Arena, answers: pd.DataFrame, language: str, order: Sequence[str]
) -> Material:
    """Return one system's answers in a language, with what their forms are made from."""
    (system,) = answers["system"].unique()
    query_ids = answers["query_id"]
    in_language = arena.answers[arena.answers["language"] == language]
    texts = in_language.pivot(index="query_id", columns="system", values="answer")
    texts = texts.reindex(query_ids).fillna("")
    queries = arena.queries[arena.queries["language"] == language].set_index("query_id")
    queries = queries.loc[query_ids]
    passage_texts = []
    for passages in queries["passages"]:
        passage_texts.append([str(passage["text"]) for passage in passages])
    return Material(
        answers=list(answers["answer"]),
        other_answers=[list(texts[name]) for name in order if name != system and name in texts],
        questions=list(queries["query"]),
        passages=passage_texts,
    )


def forms_of(material: Material) -> Iterator[tuple[str, Sequence[str]]]:
    for kind, changes in KINDS.items():
        for name, change in changes.items():
            if any(material.passages) or name not in OF_PASSAGES:
                yield f"{kind}: {name}", change(material)


if __name__ == "__main__":
    main()
