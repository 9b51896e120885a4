"""Which facts of a good answer each answer states, as pages show it."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from arena.data.answer_digests import answer_digest
from arena.data.arena import Arena
from arena.data.schema import QUESTION_KEY
from arena.judging.answer_pairs import QuestionKey
from arena.judging.nuggets.scores import score_nuggets
from arena.judging.nuggets.tables import Nuggets

LONGEST_NUGGET = 300
_ORDER = ("not", "partly", "supported")


@dataclass(frozen=True)
class ShownNugget:
    """A fact of a good answer, and how far an answer states it."""

    text: str
    importance: str
    support: str


@dataclass(frozen=True)
class ShownMarks:
    """The marks of one answer by one judge.

    ``score`` is the weighted share of facts that it states; ``nuggets`` are those it lacks first,
    vital ones before okay ones.
    """

    judge: str
    score: float
    nuggets: tuple[ShownNugget, ...]

    @property
    def n_supported(self) -> int:
        """Number of facts that the answer states in full."""
        return sum(nugget.support == "supported" for nugget in self.nuggets)


class AnswerMarks:
    """The marks of an arena's answers."""

    def __init__(self, arena: Arena) -> None:
        marks = Nuggets.of(arena).counted_marks()
        judges = sorted(set(marks["judge"]))
        judge = next((name for name in judges if name in arena.judges), "")
        judge = judge or next(iter(judges), "")
        self._marks: dict[tuple[QuestionKey, str], ShownMarks] = {}
        rows_of_judge = marks[marks["judge"] == judge]
        for key, rows in rows_of_judge.groupby([*QUESTION_KEY, "answer_digest"]):
            language, query_id, digest = map(str, key)
            self._marks[(language, query_id), digest] = _shown_marks(judge, rows)

    def of(self, question: QuestionKey, output: str) -> ShownMarks | None:
        """Return the marks of an answer, or None if it has none."""
        return self._marks.get((question, answer_digest(output)))


def _shown_marks(judge: str, rows: pd.DataFrame) -> ShownMarks:
    distinct = rows.drop_duplicates("nugget_id")
    columns = [distinct[name] for name in ("nugget", "importance", "support")]
    nuggets = [
        ShownNugget(text[:LONGEST_NUGGET], importance, support)
        for text, importance, support in zip(*columns, strict=True)
    ]
    scores = score_nuggets([(nugget.importance, nugget.support) for nugget in nuggets])
    nuggets.sort(key=_place)
    return ShownMarks(judge, scores.weighted, tuple(nuggets))


def _place(nugget: ShownNugget) -> tuple[int, bool]:
    return _ORDER.index(nugget.support), nugget.importance != "vital"


def shown_texts(marks: ShownMarks | None) -> list[str]:
    """Return the texts of an answer's marks."""
    return [] if marks is None else [nugget.text for nugget in marks.nuggets]
