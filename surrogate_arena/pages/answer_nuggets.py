"""Which facts of a good answer each answer states, as pages show it."""

from __future__ import annotations

import pandas as pd

from arena.data.answer_digests import answer_digest
from arena.data.arena import Arena
from arena.data.schema import QUESTION_KEY
from arena.judging.answer_pairs import QuestionKey
from arena.judging.nuggets.scores import score_nuggets
from arena.judging.nuggets.tables import Nuggets
from surrogate_arena.pages.views import Row

SUPPORTS = ("not", "partly", "supported")


class AnswerMarks:
    """The marks of an arena's answers, by its judge or else by the first one by name."""

    def __init__(self, arena: Arena) -> None:
        self._marks: dict[tuple[QuestionKey, str], Row] = {}
        nuggets = Nuggets.of(arena)
        if not nuggets:
            return
        marks = nuggets.counted_marks()
        judges = sorted(set(marks["judge"]))
        # The arena holds the verdicts of the judges whose board is shown.
        of_board = [name for name in judges if name in arena.judges]
        judge = next(iter([*of_board, *judges]), "")
        rows_of_judge = marks[marks["judge"] == judge]
        for key, rows in rows_of_judge.groupby([*QUESTION_KEY, "answer_digest"]):
            language, query_id, digest = map(str, key)
            self._marks[(language, query_id), digest] = {"judge": judge, **_shown_marks(rows)}

    def of(self, question: QuestionKey, output: str) -> Row | None:
        """Return the marks of an answer."""
        return self._marks.get((question, answer_digest(output)))


def _shown_marks(rows: pd.DataFrame) -> Row:
    # The rows may be of several systems that gave the same answer.
    nuggets = rows.drop_duplicates("nugget_id")[["nugget", "importance", "support"]]
    shown = nuggets.assign(
        text=nuggets["nugget"].str.slice(stop=300),
        place=nuggets["support"].map(SUPPORTS.index),
        is_okay=nuggets["importance"] != "vital",
    )
    # What the answer lacks comes first, vital facts before okay ones.
    shown = shown.sort_values(["place", "is_okay"], kind="stable")
    marks = nuggets[["importance", "support"]].itertuples(index=False, name=None)
    return {
        "score": score_nuggets(list(marks)).weighted,
        "n_supported": int(nuggets["support"].eq("supported").sum()),
        "nuggets": shown[["text", "importance", "support"]].to_dict("records"),
    }
