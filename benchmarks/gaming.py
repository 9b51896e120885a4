"""Whether ranks can be bought: what boards make of answers that were spoilt, padded or copied.

    python benchmarks/gaming.py ARENA ... [--judge J] [--questions N] [--json FILE] [--cache DIR]

``sample`` is the arena that ships with the package. A weak, a middling and a strong system (at the
quarters of the arena's ranking) are left out in turn; the board of the others ranks the system as
it is and in some thirty other forms, nine of which the board's integrity check is calibrated by.
Prints for each form where it ranks without the check and with it; and for each arena how many of
its judged systems the check, learned from the others, would not have ranked.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd

from arena import Arena, rate, read_arena, sample_arena
from arena.data.seeds import generator
from arena.statistics.rank_agreement import kendall_tau
from surrogate import build_board
from surrogate.board.board import Board
from surrogate.integrity.calibration import learn_language
from surrogate.integrity.check import NOT_RANKED
from surrogate.integrity.damage import DAMAGES, Original, shuffled

QUARTERS = (0.25, 0.5, 0.75)
SAMPLE = "sample"
AS_IS = "as it is"
KEYS = ["language", "query_id"]
EXTRACTED = 8
"""Passages of which the first sentence is copied."""
APPENDED = 5
"""Passages of which some text is added to an answer."""
REFUSAL = "I am sorry, but I cannot answer this question from what I was given."
OFF_TOPIC = (
    "To bake bread, mix flour, water, salt and yeast, knead the dough for ten minutes, let it "
    "rise under a cloth for two hours, and bake it in a hot oven until the crust is brown."
)
PADDING = "It is important to note that there are many aspects to consider in this regard."
_SENTENCE = re.compile(r"(?<=[.!?।])\s+|(?<=[。！？])\s*")


def main() -> None:
    options = read_options()
    gamed, ordinary = [], []
    for name in options.arenas:
        arena = sample_arena() if name == SAMPLE else read_arena(name)
        judged = fewer_questions(arena.judged_by(options.judge), options.questions)
        ordinary.append(false_alarms(judged, options))
        gamed += ranks_of(judged, options)
        if options.json is not None:
            rows = {"gamed": gamed, "ordinary": ordinary}
            options.json.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    table = pd.DataFrame(gamed)
    for _, part in table.groupby("arena", sort=False):
        print(shown(by_form(part), str(part["arena"].iloc[0])))
    print(shown(by_form(table), "all arenas"))
    print(shown(pd.DataFrame(ordinary).set_index("arena"), "judged systems, each left out"))


def read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("arenas", nargs="+")
    parser.add_argument("--surrogate", default="gaussian-process")
    parser.add_argument("--judge")
    parser.add_argument("--questions", type=int, default=60, help="of a language, at most")
    parser.add_argument("--tournaments", type=int, default=50)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--cache", type=Path, help="folder that keeps features between runs")
    parser.add_argument("--json", type=Path)
    return parser.parse_args()


def shown(table: pd.DataFrame, title: str) -> str:
    return f"\n{title}\n{table.to_string(float_format='%.2f')}"


def fewer_questions(arena: Arena, most: int) -> Arena:
    """Keep some questions of each language, so that the study ends."""
    kept = set()
    for language, rows in arena.queries.groupby("language"):
        names = sorted(rows["query_id"])
        order = generator(0, "gaming", str(language)).permutation(len(names))[:most]
        kept |= {(language, names[place]) for place in order}

    def of(rows: pd.DataFrame) -> pd.DataFrame:
        return rows[[key in kept for key in zip(rows["language"], rows["query_id"], strict=True)]]

    return replace(
        arena, queries=of(arena.queries), answers=of(arena.answers), judgments=of(arena.judgments)
    )


def board_of(arena: Arena, options: argparse.Namespace) -> Board:
    return build_board(
        arena,
        surrogate=options.surrogate,
        tournaments=options.tournaments,
        n_jobs=options.jobs,
        feature_cache=options.cache,
    )


def false_alarms(arena: Arena, options: argparse.Namespace) -> dict[str, object]:
    """Say whom of the judged systems the check would not have ranked, and what that does to tau."""
    board = board_of(arena, options)
    alarms, everybody, kept = 0, list[float](), list[float]()
    for language, rows in board.ratings.dropna(subset=["arena_rating"]).groupby("language"):
        answers = arena.answers[
            (arena.answers["language"] == language) & arena.answers["system"].isin(rows["system"])
        ]
        queries = arena.queries[arena.queries["language"] == language]
        learned = learn_language(answers, queries, str(language), board.summary.settings.seed)
        found = learned.judged if learned else {}
        barred = {name for name, items in found.items() if any(item.is_grave for item in items)}
        alarms += len(barred)
        left = rows[~rows["system"].isin(barred)]
        for part, taus in ((rows, everybody), (left, kept)):
            both = part[["surrogate_rating", "arena_rating"]].dropna().to_numpy()
            taus.append(kendall_tau(both[:, 0], both[:, 1]))
    judged = int(board.ratings["arena_rating"].notna().sum())
    return {
        "arena": arena.info.name,
        "systems": judged,
        "not ranked": alarms,
        "share": alarms / judged,
        "tau unseen": float(np.nanmean(everybody)),
        "tau of the ranked": float(np.nanmean(kept)),
    }


def ranks_of(arena: Arena, options: argparse.Namespace) -> list[dict[str, object]]:
    """Rank the chosen systems as they are and as they were changed, each by a board without it."""
    order = ordered_systems(arena)
    rows = []
    for quarter in QUARTERS:
        system = order[round((1 - quarter) * (len(order) - 1))]
        others = without(arena, system)
        board = board_of(others, options)
        forms = [form.assign(system=name) for name, form in all_forms(arena, system, order).items()]
        new = board.rank(pd.concat(forms, ignore_index=True), others, n_jobs=options.jobs).new
        new = new.assign(before=places(board, new))
        standing = new.groupby("system")["before"].mean()
        best = board.ratings.loc[board.ratings["system"] == leader(order, system), "rank"].mean()
        for name, own in new.groupby("system"):
            notes = sorted({note for note in own["note"] if note})
            rows.append(
                {
                    "arena": arena.info.name,
                    "systems": len(order),
                    "system": system,
                    "form": name,
                    "original": float(best if name in OF_THE_BEST else standing[AS_IS]),
                    "before": float(own["before"].mean()),
                    "after": float(own["rank"].astype(float).mean(skipna=False)),
                    "tampered": any(NOT_RANKED.split("{")[0] in note for note in notes),
                    "notes": notes,
                }
            )
        print(f"{arena.info.name}: {system} done", file=sys.stderr)
    return rows


def places(board: Board, new: pd.DataFrame) -> list[float]:
    """Ranks that systems would have by what the surrogate predicts of their answers."""
    known = board.ratings.set_index("language")["rating"]
    pairs = zip(new["language"], new["surrogate_rating"], strict=True)
    return [
        1.0 + float((known.loc[language] > rating).sum()) if np.isfinite(rating) else np.nan
        for language, rating in pairs
    ]


def by_form(table: pd.DataFrame) -> pd.DataFrame:
    """Sum up each form: its place in the field (0 the top, 1 the end), and what was done with it.

    ``above before``: share of the cases in which it ranks above what it was made from, without the
    check; ``above after`` with it; ``not ranked`` by it; ``noted`` by it or anything else.
    """
    own = table.assign(
        place=(table["before"] - 1) / (table["systems"] - 1),
        above=table["before"] < table["original"],
        still=table["after"] < table["original"],
        unranked=table["after"].isna(),
        noted=table["notes"].map(bool),
        calibrated=table["form"].isin(list(DAMAGES)),
    )
    columns = {
        "calibrated": "by damage",
        "place": "place before",
        "above": "above before",
        "still": "above after",
        "unranked": "not ranked",
        "noted": "noted",
    }
    means = own.groupby("form")[list(columns)].mean().rename(columns=columns)
    return means.sort_values(["by damage", "not ranked"], ascending=False)


def ordered_systems(arena: Arena) -> list[str]:
    """The judged systems by their mean rank in the arena, best first."""
    tables = [rate(rows).table for _, rows in arena.judgments.groupby("language")]
    ranks = pd.concat(tables).groupby("system")["rank"].mean()
    return [str(name) for name in ranks.sort_values(kind="stable").index]


def leader(order: Sequence[str], system: str) -> str:
    """The best of the other systems."""
    return next(name for name in order if name != system)


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


def all_forms(arena: Arena, system: str, order: Sequence[str]) -> dict[str, pd.DataFrame]:
    """Return the answers of a system as they are and in all other forms, by name."""
    answers = dict(list(arena.answers.groupby("system")))
    best = [name for name in order if name != system]
    parts: dict[str, list[pd.DataFrame]] = {}
    for language, own in answers[system].groupby("language"):
        queries = arena.queries[arena.queries["language"] == language].set_index("query_id")
        asked = queries.loc[own["query_id"]]
        top = _same_questions(answers[best[0]], own)
        several = pd.concat(
            [_same_questions(answers[name], own).iloc[place :: len(best[:4])]
             for place, name in enumerate(best[:4])]
        )  # fmt: skip
        for name, rows in _forms(own, asked, top).items():
            parts.setdefault(name, []).append(rows)
        parts.setdefault("copied", []).append(top)
        parts.setdefault("copied from four", []).append(several)
    return {name: pd.concat(rows, ignore_index=True) for name, rows in parts.items()}


def _same_questions(rows: pd.DataFrame, own: pd.DataFrame) -> pd.DataFrame:
    return own[KEYS].merge(rows, on=KEYS)


@dataclass(frozen=True)
class Material:
    """What forms are made of: answers with their questions, passages, and the best system's."""

    own: Original
    best: Original


def _forms(own: pd.DataFrame, asked: pd.DataFrame, top: pd.DataFrame) -> dict[str, pd.DataFrame]:
    passages = [[str(item["text"]) for item in items] for items in asked["passages"]]
    questions = list(asked["query"].astype(str))
    random = generator(0, "gaming", *own["answer"])
    original = Original(list(own["answer"]), questions, passages, random)
    best = Original(list(top["answer"]), questions, passages, random)
    material = Material(original, best)
    made = {name: change(original) for name, change in DAMAGES.items()}
    made |= {name: change(material) for name, change in OTHER_FORMS.items()}
    if not any(passages):
        made = {name: texts for name, texts in made.items() if name not in OF_PASSAGES}
    forms = {name: own.iloc[: len(texts)].assign(answer=texts) for name, texts in made.items()}
    return {AS_IS: own, **forms}


def _each(change: Callable[[str], str]) -> Callable[[Material], list[str]]:
    return lambda material: [change(text) for text in material.own.texts]


def _sentences(text: str) -> list[str]:
    return [part for part in _SENTENCE.split(text) if part.strip()] or [text]


def _half(kind: str) -> Callable[[Material], list[str]]:
    def mixed(material: Material) -> list[str]:
        pairs = zip(material.own.texts, DAMAGES[kind](material.own), strict=True)
        return [text if place % 2 else spoilt for place, (text, spoilt) in enumerate(pairs)]

    return mixed


def _garbled(material: Material) -> list[str]:
    random = material.own.random
    return ["".join(random.permutation(list(text)).tolist()) for text in material.own.texts]


def _shuffled_sentences(material: Material) -> list[str]:
    def one(text: str) -> str:
        own = replace(material.own, texts=_sentences(text))
        return " ".join(shuffled(own))

    return [one(text) for text in material.own.texts]


def _extracted(material: Material) -> list[str]:
    return [
        " ".join(
            f"{_sentences(text)[0]} [{place}]" for place, text in enumerate(texts[:EXTRACTED], 1)
        )
        for texts in material.own.passages
    ]


def _appended(material: Material) -> list[str]:
    return [
        f"{text} "
        + " ".join(f"{passage[:300]} [{place}]." for place, passage in enumerate(own[:APPENDED], 1))
        for text, own in zip(material.own.texts, material.own.passages, strict=True)
    ]


OF_PASSAGES = {"passages pasted", "citations stuffed", "extracted, cited", "passages appended"}
"""Forms that need passages."""
OF_THE_BEST = {
    *("copied", "copied from four", "best's, other questions", "best's, shuffled"),
    "best's, wrong numbers",
}
"""Forms made from the best of the other systems."""
OTHER_FORMS: Mapping[str, Callable[[Material], list[str]]] = {
    "refusing": _each(lambda _: REFUSAL),
    "off topic": _each(lambda _: OFF_TOPIC),
    "letters shuffled": _garbled,
    "half other questions": _half("other questions"),
    "half empty": _half("empty"),
    "question once": lambda material: list(material.own.questions),
    "one answer to all": lambda material: [material.own.texts[0]] * len(material.own.texts),
    "sentences reversed": _each(lambda text: " ".join(reversed(_sentences(text)))),
    "sentences shuffled within": _shuffled_sentences,
    "half its sentences": _each(
        lambda text: " ".join(_sentences(text)[: max(len(_sentences(text)) // 2, 1)])
    ),
    "every sentence twice": _each(
        lambda text: " ".join(part for part in _sentences(text) for _ in range(2))
    ),
    "every third word dropped": _each(
        lambda text: " ".join(word for place, word in enumerate(text.split()) if place % 3)
    ),
    "padded": _each(lambda text: f"{text} " + " ".join([PADDING] * 8)),
    "extracted, cited": _extracted,
    "passages appended": _appended,
    "best's, other questions": lambda material: DAMAGES["other questions"](material.best),
    "best's, shuffled": lambda material: DAMAGES["words shuffled"](material.best),
    "best's, wrong numbers": lambda material: DAMAGES["wrong numbers"](material.best),
    "one question answered": lambda material: list(material.own.texts[:1]),
}


if __name__ == "__main__":
    main()
