"""Rows of answers, of whatever program, brought into an arena's tables one by one."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, NamedTuple

import pandas as pd

from arena.adapters.foreign_rows import Skip
from arena.data.arena import Arena
from arena.data.errors import DataError, Problem, place_of
from arena.data.folder import as_rows, checked_arena
from arena.data.languages import language_code
from arena.data.rows import Rows
from arena.data.schema import (
    ANSWERS,
    JUDGMENTS,
    QUERIES,
    QUESTION_KEY,
    REFERENCE,
    ArenaInfo,
    finite_number,
    passages_of,
    whole_digits,
)
from arena.data.tables.systems import OWN_PASSAGES

WINNERS = MappingProxyType(
    {"a": "a", "b": "b", "tie": "tie", "model_a": "a", "model_b": "b", "system_a": "a"}
    | {"system_b": "b", "tie (bothbad)": "tie", "both_bad": "tie"}
)
JUDGE = "judge"

_ID_DIGITS = 12
_MARK_KEY = [*QUESTION_KEY, "judge"]


def question_id(question: str) -> str:
    """Return the id of a question that has none: digits of its text's digest."""
    return hashlib.sha256(question.encode(errors="surrogatepass")).hexdigest()[:_ID_DIGITS]


def judgments_of_marks(marks: pd.DataFrame, most_pairs: int | None = None) -> pd.DataFrame:
    """Turn marks of single answers into judgments of pairs: the higher mark wins, equal is a tie.

    Who is shown as ``a`` and which pairs are kept is drawn from their content.

    Args:
        marks: Columns ``language, query_id, system, judge, mark``, one row an answer and judge.
        most_pairs: Pairs to keep of each question and judge; None keeps all.

    Returns:
        An arena's ``judgments``, sorted.
    """
    columns = [*_MARK_KEY, "system", "mark"]
    pairs = marks[columns].merge(marks[columns], on=_MARK_KEY, suffixes=("_a", "_b"))
    pairs = pairs[pairs["system_a"] < pairs["system_b"]].reset_index(drop=True)
    names = pairs[[*_MARK_KEY, "system_a", "system_b"]].astype(str)
    draw = pd.util.hash_pandas_object(names, index=False)
    if most_pairs is not None:
        kept = draw.groupby([pairs[name] for name in _MARK_KEY]).rank(method="first") <= most_pairs
        pairs, draw = pairs[kept], draw[kept]
    is_swapped = (draw % 2 == 1).to_numpy()
    difference = (pairs["mark_a"] - pairs["mark_b"]).to_numpy()
    sign = pd.Series(difference, index=pairs.index).where(~is_swapped, -difference)
    table = pd.DataFrame(
        {
            "query_id": pairs["query_id"],
            "language": pairs["language"],
            "system_a": pairs["system_a"].where(~is_swapped, pairs["system_b"]),
            "system_b": pairs["system_b"].where(~is_swapped, pairs["system_a"]),
            "winner": ["a" if by > 0 else "b" if by < 0 else "tie" for by in sign],
            "judge": pairs["judge"],
        }
    )
    return table.sort_values(
        [*QUESTION_KEY, "judge", "system_a", "system_b"], ignore_index=True
    ).astype(object)


Key = tuple[str, str]
Values = Mapping[str, Any]
ONE: tuple[str, ...] = ("",)
PAIR = ("_a", "_b")


class Place(NamedTuple):
    """Where a row stands: its file, and its line."""

    source: str
    line: int

    def seen_from(self, other: Place) -> str:
        """Say it to one who reads of another row."""
        if other.source == self.source:
            return f"on line {self.line}"
        return f"at {place_of(self.source, self.line, False)}"


@dataclass
class CollectedAnswers:
    """What rows of answers say, brought into our tables row by row.

    Attributes:
        columns: Field to the name of its column, for what is said of faults.
        language: Language of rows that name none.
        judge: Judge of rows that name none.
    """

    columns: Mapping[str, str]
    language: str
    judge: str | None
    queries: dict[Key, dict[str, Any]] = field(default_factory=dict)
    answers: dict[tuple[str, str, str], dict[str, Any]] = field(default_factory=dict)
    judgments: list[dict[str, Any]] = field(default_factory=list)
    marks: list[dict[str, Any]] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    skips: list[Skip] = field(default_factory=list)

    def add(self, place: Place, values: Values, sides: Sequence[str] = ONE) -> None:
        """Add a row; ``sides`` are the endings of the fields of its answers."""
        code = self._language(place, values)
        named = ["question", *(f"system{side}" for side in sides)]
        said = [f"answer{side}" for side in sides]
        sound = [self._is_text(place, ours, values) for ours in named]
        sound += [self._is_text(place, ours, values, may_lack=True) for ours in said]
        if code is None or not all(sound):
            return
        key = (code, self._query_id(values))
        is_pair = len(sides) == 2
        passages = self._passages(place, values)
        if passages is None or not self._adds_question(place, key, values, passages, is_pair):
            return
        for side in sides:
            self._add_answer(place, key, values[f"system{side}"], values[f"answer{side}"], is_pair)
            if passages and not is_pair:
                self.answers[*key, values["system"]]["passages"] = passages
        if values.get("reference") is not None and self._is_text(place, "reference", values):
            self._add_reference(place, key, values["reference"])
        if "winner" in values and is_pair:
            self._add_judgment(place, key, values)
        if "verdict" in values and not is_pair:
            self._add_mark(place, key, values)
        for judge, mark in values.get("marks", {}).items():
            self._add_mark(place, key, {**values, "judge": judge, "verdict": mark})

    def arena(self, info: ArenaInfo, most_pairs: int | None) -> Arena:
        """Put the arena together, and check it as any other."""
        self._refuse_half_named()
        judged = _rows(self.judgments, list(JUDGMENTS.columns), info.source)
        if self.marks:
            table = judgments_of_marks(pd.DataFrame(self.marks), most_pairs)
            judged = as_rows(table, f"verdicts of {info.source}")
        self._share_passages()
        asked = list(self.queries.values())
        further = [REFERENCE] if any(REFERENCE in query for query in asked) else []
        queries = _rows(asked, [*QUERIES.columns, *further], info.source)
        columns = [*ANSWERS.columns, OWN_PASSAGES]
        answers = _rows(list(self.answers.values()), columns, info.source)
        return checked_arena(info, queries, answers, judged)

    def _refuse_half_named(self) -> None:
        """Refuse questions that some rows name by an id and others by their text alone."""
        named = {
            (code, query["query"]): query["place"]
            for (code, query_id), query in self.queries.items()
            if query_id != question_id(query["query"])
        }
        for (code, query_id), query in self.queries.items():
            place = named.get((code, query["query"]))
            if place is not None and query_id == question_id(query["query"]):
                fault = f"is missing, and stands {place.seen_from(query['place'])}"
                hint = "give an id to every row of a question, or to none"
                self._fault(query["place"], "query_id", None, fault, hint)
        if self.problems:
            raise DataError(self.problems)

    def _share_passages(self) -> None:
        """Keep what the answers to a question have in common with it, and own ones with each."""
        own = {key for key, query in self.queries.items() if query["differs"]}
        for key in own:
            self.queries[key]["passages"] = []
        for (code, query_id, _), answer in self.answers.items():
            if (code, query_id) not in own:
                answer["passages"] = None

    def _language(self, place: Place, values: Values) -> str | None:
        given = values.get("language")
        if given is None:
            return self.language
        code = language_code(given) if isinstance(given, str) else None
        if code is None:
            hint = "use a code such as 'en', or an English name"
            self._fault(place, "language", given, "is not a language known by name", hint)
        return code

    def _is_text(self, place: Place, ours: str, values: Values, may_lack: bool = False) -> bool:
        """Tell whether a field holds a text; CSV has no empty one, so that an answer may lack."""
        value = values[ours]
        if isinstance(value, str) and (may_lack or value.strip()):
            return True
        if value is None and may_lack:
            return True
        fault = "is missing" if value is None else "is no text"
        self._fault(place, ours, value, fault, "give it a text")
        return False

    def _query_id(self, values: Values) -> str:
        given = values.get("query_id")
        return (
            question_id(values["question"]) if given is None else whole_digits(given) or str(given)
        )

    def _passages(self, place: Place, values: Values) -> list[dict[str, Any]] | None:
        try:
            return passages_of(values.get("passages"))
        except ValueError as error:
            hint = "give a text, a list of texts, or a list of {passage_id, text}"
            self._fault(place, "passages", values.get("passages"), str(error), hint)
            return None

    def _adds_question(
        self, place: Place, key: Key, values: Values, passages: list[dict[str, Any]], is_pair: bool
    ) -> bool:
        code, query_id = key
        new = {"query_id": query_id, "language": code, "query": values["question"]}
        known = self.queries.setdefault(
            key, new | {"passages": passages, "place": place, "differs": False}
        )
        known["passages"] = known["passages"] or passages
        differs = bool(passages) and passages != known["passages"]
        known["differs"] |= differs
        differing = {
            "question": known["query"] != values["question"],
            "passages": differs and is_pair,
        }
        for ours in (ours for ours, differs in differing.items() if differs):
            fault = f"differs from that of the same question {known['place'].seen_from(place)}"
            hint = "give each question one text and one list of passages"
            self._fault(place, ours, values[ours], fault, hint)
        return not any(differing.values())

    def _add_answer(
        self, place: Place, key: Key, system: str, given: str | None, may_repeat: bool
    ) -> None:
        code, query_id = key
        answer = given or ""
        new = {"query_id": query_id, "language": code, "system": system, "answer": answer}
        known = self.answers.setdefault((*key, system), new | {"place": place})
        if known["place"] != place and not (may_repeat and known["answer"] == answer):
            fault = f"has answered this question {known['place'].seen_from(place)}"
            self._fault(place, "system", system, fault, "keep one of its answers")

    def _add_reference(self, place: Place, key: Key, given: str) -> None:
        known = self.queries[key].setdefault(REFERENCE, given)
        if known != given:
            fault = "differs from another reference of the same question"
            self._fault(place, REFERENCE, given, fault, "give each question one reference answer")

    def _add_judgment(self, place: Place, key: Key, values: Values) -> None:
        given = values["winner"]
        if given in (None, ""):
            self.skips.append(Skip(place.source, "judgment", "it has no winner"))
            return
        winner = WINNERS.get(given) if isinstance(given, str) else None
        if winner is None:
            hint = f"write one of {', '.join(WINNERS)}, or nothing"
            self._fault(place, "winner", given, "is not a winner", hint)
            return
        row = self._judged(key, values) | {"winner": winner, "place": place}
        sides = {side: values[side] for side in ("system_a", "system_b")}
        self.judgments.append(row | sides)

    def _add_mark(self, place: Place, key: Key, values: Values) -> None:
        given = values["verdict"]
        if given in (None, ""):
            self.skips.append(Skip(place.source, "verdict", "it is missing"))
            return
        mark = finite_number(given)
        if mark is None:
            hint = "write a number, the higher the better, or nothing"
            self._fault(place, "verdict", given, "is no number", hint)
            return
        self.marks.append(self._judged(key, values) | {"system": values["system"], "mark": mark})

    def _judged(self, key: Key, values: Values) -> dict[str, Any]:
        code, query_id = key
        judge = values.get("judge") or self.judge or JUDGE
        return {"language": code, "query_id": query_id, "judge": str(judge)}

    def _fault(self, place: Place, ours: str, value: object, fault: str, hint: str) -> None:
        column = self.columns.get(ours, ours)
        self.problems.append(Problem(*place, column, value, fault, hint))


def _rows(records: list[dict[str, Any]], columns: list[str], source: str) -> Rows:
    table = pd.DataFrame(records, columns=[*columns, "place"], dtype=object)
    lines = table["place"].map(lambda place: place.line).astype(int)
    return Rows(table[columns], lines, source)
