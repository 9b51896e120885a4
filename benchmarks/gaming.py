"""Whether ranks can be bought: manipulated answers predicted, then judged.

    python benchmarks/gaming.py ARENA ... [--judge J] [--systems 3] [--questions 40] [--real]
        [--forms FILE]

A board without some system places it in all forms of ``gaming_forms.py``: honest habits, answers
that are none, other systems' answers in disguise, mixtures. ``--forms`` adds a module's ``FORMS``,
written by someone who has not read the rules; its names say which are disguises. All differences
are in standard deviations of the board's ratings:

- ``above honest``: the prediction less that of the system's honest answers;
- ``above original``: the rating of a disguise less its original's on the board;
- ``after K``: the rating less that of the honest answers, once both have the verdicts on the honest
  answers to K questions, as if the judge is not fooled; and the share that such a form is first.

With ``--real``, every system is left out and placed as it is: refused, called a copy, the width of
its interval, and whether that holds its rating by its own verdicts.
"""

from __future__ import annotations

import argparse
import runpy
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
from gaming_answers import Material
from gaming_forms import AS_IS, INVENTED, KINDS, OF_PASSAGES

from arena import Arena, rate, read_arena
from arena.simulation import simulated_arena
from surrogate import build_board, rank_systems
from surrogate.ranking.ranked_systems import RankedSystems

SIMULATED = "simulated"
TOURNAMENTS = 5
JUDGED_QUESTIONS = (3, 6, 12)
REFUSED = "not ranked"


def main() -> None:
    options = read_options()
    if options.forms is not None:
        KINDS[INVENTED] = runpy.run_path(str(options.forms))["FORMS"]
    tables = []
    for name in options.arenas:
        arena = simulated_arena() if name == SIMULATED else read_arena(name)
        arena = fewer_questions(arena.judged_by(options.judge), options.questions)
        systems = ordered_systems(arena)
        if options.real:
            tables += [placed_as_it_is(arena, system) for system in systems]
        else:
            indices = np.linspace(len(systems) / 3, len(systems) - 1, options.systems)
            for index in np.unique(indices.round().astype(int)):
                tables.append(placed_in_all_forms(arena, systems[index], systems))
        print(f"{arena.info.name}: {sum(map(len, tables))} cases", flush=True)
    table = pd.concat(tables, ignore_index=True)
    if options.json is not None:
        table.to_json(options.json, orient="records", indent=1)
    keys = [["kind", "arena"]] if options.real else [["kind", "form"], ["kind", "arena"], ["kind"]]
    for columns in keys:
        print(f"\n{summary(table, columns).to_string(float_format='{:.2f}'.format)}")


def read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("arenas", nargs="+")
    parser.add_argument("--judge")
    parser.add_argument("--systems", type=int, default=3, help="of an arena that are changed")
    parser.add_argument("--questions", type=int, default=40, help="of a language, at most")
    parser.add_argument("--real", action="store_true", help="place every system as it is")
    parser.add_argument("--forms", type=Path, help="Python file with further FORMS")
    parser.add_argument("--json", type=Path)
    return parser.parse_args()


def summary(table: pd.DataFrame, columns: Sequence[str]) -> pd.DataFrame:
    """Return means over cases, and the largest rise above an original."""
    cases = table.groupby(list(columns), sort=False)
    numbers = table.select_dtypes(["number", "bool"]).columns
    means = cases[list(numbers)].mean()
    means.insert(0, "cases", cases.size())
    if "above original" in means:
        means["most above original"] = cases["above original"].max()
    return means


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


def placed_as_it_is(arena: Arena, system: str) -> pd.DataFrame:
    """Place a system as it is on a board without it, and once more by all its verdicts."""
    others = of_systems(arena, set(arena.info.systems) - {system})
    board = build_board(others, tournaments=TOURNAMENTS)
    answers = arena.answers[arena.answers["system"] == system]
    placed = cases_of(rank_systems(board, answers, others), arena, system)
    verdicts = verdicts_on(arena, system)
    judged = cases_of(rank_systems(board, answers, others, judgments=verdicts), arena, system)
    ratings = judged["rating"]
    return placed.assign(
        kind="real systems",
        width=placed["high"] - placed["low"],
        covered=(placed["low"] <= ratings) & (ratings <= placed["high"]),
    )


def placed_in_all_forms(arena: Arena, system: str, order: Sequence[str]) -> pd.DataFrame:
    """Place a system in every form on a board without it: by predictions, then by verdicts."""
    others = of_systems(arena, set(arena.info.systems) - {system})
    board = build_board(others, tournaments=TOURNAMENTS)
    forms = all_forms(arena, system, order)
    ranked = rank_systems(board, forms, others)
    table = cases_of(ranked, arena, system)
    on_board = board.ratings.groupby("language")["rating"]
    deviations = table["language"].map(on_board.std())
    honest = table[table["form"] == AS_IS].set_index("language")
    rises = table["rating"] - table["language"].map(honest["rating"])
    table["above honest"] = rises / deviations
    best = next(name for name in order if name != system)
    originals = board.ratings[board.ratings["system"] == best].set_index("language")["rating"]
    excess = (table["rating"] - table["language"].map(originals)) / deviations
    table["above original"] = excess.where(table["form"].str.contains("disguise"))
    names = sorted(forms["system"].unique())
    for n_questions in JUDGED_QUESTIONS:
        verdicts = verdicts_on(arena, system, n_questions)
        copies = [renamed(verdicts, system, name) for name in names]
        judged = cases_of(
            rank_systems(
                board,
                forms,
                others,
                feature_table=ranked.features,
                judgments=pd.concat(copies, ignore_index=True),
            ),
            arena,
            system,
        )
        judged = judged.set_index(["language", "form"]).reindex(
            pd.MultiIndex.from_frame(table[["language", "form"]])
        )
        honest_ratings = judged.xs(AS_IS, level="form")["rating"]
        ratings = judged["rating"].to_numpy()
        kept = ratings - table["language"].map(honest_ratings).to_numpy()
        table[f"after {n_questions}"] = kept / deviations
        table[f"first after {n_questions}"] = judged["rank"].to_numpy(float) == 1
    return table


def verdicts_on(arena: Arena, system: str, n_questions: int | None = None) -> pd.DataFrame:
    """Return the verdicts on a system, on some questions of each language."""
    rows = arena.judgments
    rows = rows[(rows["system_a"] == system) | (rows["system_b"] == system)]
    if n_questions is None:
        return rows
    questions = rows[["language", "query_id"]].drop_duplicates()
    chosen = questions.sample(frac=1, random_state=0).groupby("language").head(n_questions)
    return rows.merge(chosen)


def renamed(verdicts: pd.DataFrame, system: str, name: str) -> pd.DataFrame:
    """Give the verdicts on a system to another name."""
    sides = ["system_a", "system_b"]
    return verdicts.assign(**{side: verdicts[side].replace(system, name) for side in sides})


def cases_of(ranked: RankedSystems, arena: Arena, system: str) -> pd.DataFrame:
    """Return how each form of a system was placed; without a rating it counts as predicted."""
    table = ranked.new.merge(ranked.explanations, on=["language", "system"])
    kinds = table["system"].str.split(": ", n=1).str[0]
    return pd.DataFrame(
        {
            "arena": arena.info.name,
            "language": table["language"],
            "target": system,
            "kind": kinds,
            "form": table["system"],
            "rating": table["rating"].fillna(table["surrogate_rating"]),
            "low": table["low"],
            "high": table["high"],
            "rank": table["rank"],
            "refused": table["note"].str.startswith(REFUSED),
            "copy": table["original"] != "",
        }
    )


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
