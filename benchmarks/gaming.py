"""Whether ranks can be bought: what a surrogate makes of answers that were spoilt or padded.

    python benchmarks/gaming.py ARENA ... [--surrogate gaussian-process] [--judge J] [--json FILE]

``sample`` is the arena that ships with the package. A weak, a middling and a strong system (at the
quarters of the arena's ranking) are left out in turn; the board of the others ranks the system as
it is, and its answers emptied, cut, repeated, given to other questions, replaced by the passages
shown, stuffed with citations, or replaced by those of the best system. Prints ranks and notes.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pandas as pd

sys.path[0] = str(Path(__file__).parents[1])  # beside this file stands one named features

from arena import Arena, rate, read_arena, sample_arena  # noqa: E402
from surrogate import build_board  # noqa: E402

QUARTERS = (0.25, 0.5, 0.75)
KEPT = 0.2
"""Share of its characters that is left of an answer cut short."""
TIMES = 3
PASTED = 3
"""Passages pasted for an answer."""
SAMPLE = "sample"


def main() -> None:
    options = read_options()
    rows = []
    for name in options.arenas:
        arena = sample_arena() if name == SAMPLE else read_arena(name)
        rows += ranks_of(arena.judged_by(options.judge), options.surrogate, options.jobs)
    table = pd.DataFrame(rows)
    print(table.drop(columns="notes").to_string(index=False, float_format="%.1f"))
    print(summary(table).to_string(float_format="%.2f"))
    if options.json is not None:
        options.json.write_text(json.dumps(rows, indent=2) + "\n", encoding="utf-8")


def read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("arenas", nargs="+")
    parser.add_argument("--surrogate", default="gaussian-process")
    parser.add_argument("--judge")
    parser.add_argument("--jobs", type=int, default=-1)
    parser.add_argument("--json", type=Path)
    return parser.parse_args()


def ranks_of(arena: Arena, surrogate: str, jobs: int) -> list[dict[str, object]]:
    """Rank the chosen systems as they are and as they were spoilt, each by a board without it."""
    order = ordered_systems(arena)
    rows = []
    for quarter in QUARTERS:
        system = order[round((1 - quarter) * (len(order) - 1))]
        others = without(arena, system)
        board = build_board(others, surrogate=surrogate, n_jobs=jobs)
        own = arena.answers[arena.answers["system"] == system]
        best = next(name for name in order if name != system)
        forms = [form.assign(system=name) for name, form in spoilt(arena, own, best).items()]
        new = board.rank(pd.concat(forms, ignore_index=True), others, n_jobs=jobs).new
        ranks = new.groupby("system")["rank"].mean()
        for name, rank in ranks.items():
            notes = sorted({note for note in new.loc[new["system"] == name, "note"] if note})
            rows.append(
                {
                    "arena": arena.info.name,
                    "systems": len(order),
                    "system": system,
                    "form": name,
                    "rank": rank,
                    "rise": ranks["as it is"] - rank,
                    "named": bool(notes),
                    "notes": notes,
                }
            )
    return rows


def ordered_systems(arena: Arena) -> list[str]:
    """The judged systems by their mean rank in the arena, best first."""
    tables = [rate(rows).table for _, rows in arena.judgments.groupby("language")]
    ranks = pd.concat(tables).groupby("system")["rank"].mean()
    return [str(name) for name in ranks.sort_values(kind="stable").index]


def without(arena: Arena, system: str) -> Arena:
    rows = arena.judgments
    return replace(
        arena,
        info=arena.info.model_copy(
            update={"systems": tuple(name for name in arena.info.systems if name != system)}
        ),
        answers=arena.answers[arena.answers["system"] != system],
        judgments=rows[(rows["system_a"] != system) & (rows["system_b"] != system)],
    )


def spoilt(arena: Arena, own: pd.DataFrame, best: str) -> dict[str, pd.DataFrame]:
    """Return the forms of a system's answers by name."""
    keys = ["language", "query_id"]
    passages = arena.queries.set_index(keys)["passages"]
    shown = [
        [str(item["text"]) for item in passages.get(tuple(key), ())]
        for key in own[keys].itertuples(index=False)
    ]
    others = own.groupby("language")["answer"].transform(lambda part: part.to_numpy()[::-1])

    def changed(change: Callable[[str], str]) -> pd.DataFrame:
        return own.assign(answer=own["answer"].map(change))

    forms = {
        "as it is": own,
        "empty": changed(lambda _: ""),
        "cut": changed(lambda text: text[: round(KEPT * len(text))]),
        "repeated": changed(lambda text: " ".join([text] * TIMES)),
        "other questions": own.assign(answer=others),
        "copied": arena.answers[arena.answers["system"] == best],
    }
    if any(shown):
        forms["pasted"] = own.assign(answer=["\n".join(texts[:PASTED]) for texts in shown])
        marks = [" ".join(f"[{n}]" for n in range(1, len(texts) + 1)) for texts in shown]
        forms["stuffed"] = own.assign(
            answer=[
                text.replace(". ", f" {mark}. ") + f" {mark}"
                for text, mark in zip(own["answer"], marks, strict=True)
            ]
        )
    return forms


def summary(table: pd.DataFrame) -> pd.DataFrame:
    """Places won, as a share of the systems, by form: mean and most; share that was named."""
    spoiled = table[table["form"] != "as it is"]
    share = spoiled.assign(share=spoiled["rise"] / spoiled["systems"]).groupby("form")
    return pd.DataFrame(
        {
            "mean rise": share["share"].mean(),
            "largest rise": share["share"].max(),
            "named": share["named"].mean(),
        }
    )


if __name__ == "__main__":
    main()
