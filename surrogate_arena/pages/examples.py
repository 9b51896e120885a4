"""Answers on a system's page: questions that it won and lost, with both answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

import pandas as pd

from arena.data.schema import QUESTION_KEY
from surrogate.board.board import Board
from surrogate_arena.pages.formats import direction, language_tag, slugs
from surrogate_arena.pages.pair_texts import Texts
from surrogate_arena.pages.views import Row, by_system, cut_text

EXAMPLES = 3
"""Questions of either kind."""
LONGEST_EXCERPT = 700


class Examples:
    """Questions that systems won and lost, among those whose answers a site shows."""

    def __init__(self, board: Board, texts: Texts, shown: Sequence[Row]) -> None:
        """Prepare the examples of all systems.

        Args:
            board: The board.
            texts: Its arena's texts and verdicts.
            shown: Questions as pages of pairs show them; see ``Texts.of``.
        """
        self._questions: Mapping[Any, Row] = {question["key"]: question for question in shown}
        self._files = slugs(board.languages)
        self._is_by_language = board.summary.part == "language"
        places = board.ratings.sort_values(["language", "rank"], kind="stable")
        places["order"] = places.groupby("language").cumcount()
        order = places.set_index(["language", "system"])["order"]
        votes = _votes(texts.judgments, set(self._questions))
        answered = []
        for question in shown:
            answered += [(*question["key"], answer["system"]) for answer in question["answers"]]
        answers = pd.DataFrame(answered, columns=[*QUESTION_KEY, "system"], dtype="str")
        votes = votes.merge(answers).merge(answers.rename(columns={"system": "opponent"}))
        keys = pd.MultiIndex.from_frame(votes[["language", "opponent"]])
        votes = votes.assign(order=order.reindex(keys).to_numpy())
        won = votes[(votes["won"] > 0) & (votes["lost"] == 0)]
        lost = votes[(votes["lost"] > 0) & (votes["won"] == 0)]
        self._chosen = {
            "won": _first(won.sort_values(["order", "won"], ascending=[True, False])),
            "lost": _first(lost.sort_values(["lost", "order"], ascending=False)),
        }

    def of(self, system: str) -> dict[str, list[Row]]:
        """Return what a system won against the strongest, and lost by most votes."""
        examples: dict[str, list[Row]] = {}
        for kind, chosen in self._chosen.items():
            examples[kind] = list(map(self._example, chosen.get(system, [])))
        return examples

    def _example(self, row: Mapping[str, Any]) -> Row:
        question = self._questions[row["language"], row["query_id"]]
        answers = {answer["system"]: answer for answer in question["answers"]}
        sides = []
        for name in (row["system"], row["opponent"]):
            text = "".join(part for part, _, _ in answers[name]["parts"])
            sides.append({"system": name, "answer": cut_text(text, LONGEST_EXCERPT)})
        shown = {"a": row["system"], "b": row["opponent"], "question": row["query_id"]}
        return {
            "query": question["query"],
            "votes": int(row["won"] + row["lost"]),
            "reason": cut_text(row["reason"], LONGEST_EXCERPT),
            "sides": sides,
            "link": f"pairs/{self._files[row['language']]}.html#{urlencode(shown)}",
            "lang": language_tag(row["language"]) if self._is_by_language else "und",
            "dir": direction(row["language"]) if self._is_by_language else "auto",
        }


def _first(votes: pd.DataFrame) -> dict[str, list[Row]]:
    # One example per question: others would repeat the answer.
    chosen = votes.drop_duplicates([*QUESTION_KEY, "system"])
    return by_system(chosen.groupby("system").head(EXAMPLES))


def _votes(judgments: pd.DataFrame, keys: set[tuple[str, str]]) -> pd.DataFrame:
    """Count the votes on each pair of answers, from both sides, on some questions."""
    index = pd.MultiIndex.from_frame(judgments[QUESTION_KEY].astype(object))
    rows = judgments[index.isin(list(keys))]
    reasons = rows.get("reason", pd.Series("", rows.index)).fillna("").astype(str).str.strip()
    sides = []
    for system, opponent, winner in (("system_a", "system_b", "a"), ("system_b", "system_a", "b")):
        side = pd.DataFrame(
            {
                **{name: rows[name].astype(str) for name in QUESTION_KEY},
                "system": rows[system].astype(str),
                "opponent": rows[opponent].astype(str),
                "won": (rows["winner"] == winner).astype(int),
                "lost": (~rows["winner"].isin([winner, "tie"])).astype(int),
                "reason": reasons,
            }
        )
        sides.append(side)
    stacked = pd.concat(sides, ignore_index=True)
    pairs = stacked.groupby([*QUESTION_KEY, "system", "opponent"], sort=True)
    return pairs.agg({"won": "sum", "lost": "sum", "reason": "first"}).reset_index()
