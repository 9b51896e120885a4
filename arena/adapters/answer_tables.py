"""Tables of answers that any program wrote: one row an answer, or one row a pair of answers."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pandas as pd

from arena.adapters.files import (
    checked_language,
    columns_of,
    files_below,
    read_foreign_rows,
    shown_path,
)
from arena.adapters.foreign_rows import (
    ForeignArena,
    Skip,
    ignored_columns,
    joined_rows,
    skipped_table,
)
from arena.data.errors import DataError, Problem, UsageError, checked_choice
from arena.data.folder import Arena, as_rows, checked_arena
from arena.data.languages import UNDETERMINED, language_code
from arena.data.rows import Rows
from arena.data.schema import ANSWERS, JUDGMENTS, QUERIES, ArenaInfo, passages_of
from arena.data.systems import OWN_PASSAGES

FIELDS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "question": ("question", "query", "prompt", "instruction", "user_input", "input"),
        "query_id": ("query_id", "question_id"),
        "language": ("language", "lang"),
        "passages": (
            *("passages", "contexts", "context"),
            *("retrieved_contexts", "retrieval_context"),
        ),
        "reference": ("reference", "reference_answer", "ground_truth", "expected_output"),
        "judge": ("judge", "annotator"),
        "system": ("system", "model", "generator"),
        "answer": ("answer", "output", "response", "actual_output"),
        "verdict": ("verdict", "mark", "score"),
        "system_a": ("system_a", "model_a"),
        "answer_a": ("answer_a", "response_a"),
        "system_b": ("system_b", "model_b"),
        "answer_b": ("answer_b", "response_b"),
        "winner": ("winner",),
    }
)
"""What a column may hold, and the names by which it is known unless another is given.

Those of Ragas (``user_input``, ``response``, ``retrieved_contexts``) and DeepEval (``input``,
``actual_output``, ``retrieval_context``) are among them.
"""

ONE_ANSWER = ("question", "system", "answer")
ONE_PAIR = ("question", "system_a", "answer_a", "system_b", "answer_b")

WINNERS = MappingProxyType(
    {"a": "a", "b": "b", "tie": "tie", "model_a": "a", "model_b": "b", "system_a": "a"}
    | {"system_b": "b", "tie (bothbad)": "tie", "both_bad": "tie"}
)
REFERENCE = "reference"
JUDGE = "judge"

_ID_DIGITS = 12
_MARK_KEY = ["language", "query_id", "judge"]


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
        ["language", "query_id", "judge", "system_a", "system_b"], ignore_index=True
    ).astype(object)


def read_answer_tables(
    paths: Sequence[Path | str],
    *,
    columns: Mapping[str, str] = MappingProxyType({}),
    language: str | None = None,
    judge: str | None = None,
    name: str = "answers",
    reference_system: str | None = None,
    most_pairs: int | None = None,
) -> ForeignArena:
    """Read tables of answers: CSV, JSONL, Parquet, or a JSON array.

    A row is an answer (``question, system, answer``), with a ``verdict`` if it was marked (a
    number, the higher the better: the better of two answers to a question wins); or a pair
    (``question, system_a, answer_a, system_b, answer_b``) with its ``winner``. Further fields of
    both are ``query_id`` (else questions with the same text are one), ``language`` (a code or an
    English name), ``passages`` (a text, a list of texts or passages, or a list as JSON text; where
    rows of a question have different ones, each answer has its own and the question none),
    ``reference`` (an answer to compare with) and ``judge``.

    Args:
        paths: Files of one schema, or folders of them.
        columns: Field to the name of its column, where ``FIELDS`` does not have that name.
        language: Language of rows that name none; undetermined (``und``) if left out.
        judge: Judge of rows that name none.
        name: Name of the arena.
        reference_system: System whose answers serve as reference.
        most_pairs: Pairs of marked answers to keep of each question; None keeps all.

    Raises:
        UsageError: For an absent file, an unknown field or column, or columns of neither kind.
        DataError: With every problem of all files.
    """
    files = files_below(paths)
    rows = joined_rows([read_foreign_rows(path, shown_path(path, paths)) for path in files])
    chosen = _chosen_columns(rows, columns)
    is_pairs = _holds_pairs(rows, chosen)
    found = _Collected(rows.source, chosen, checked_language(language) or UNDETERMINED, judge)
    for line, record in zip(rows.lines, rows.table.to_dict(orient="records"), strict=True):
        values = {ours: record[column] for ours, column in chosen.items()}
        found.add(int(line), values, ("_a", "_b") if is_pairs else ("",))
    problems = sorted([*rows.problems, *found.problems], key=lambda problem: problem.line or 0)
    if problems:
        raise DataError(problems)
    if "reference" in chosen and reference_system is None:
        reference_system = REFERENCE
    skips = [*found.skips, *ignored_columns(rows, list(chosen.values()))]
    note = f"Columns: {', '.join(f'{ours} from {column!r}' for ours, column in chosen.items())}."
    info = ArenaInfo(
        name=name,
        languages=tuple(sorted({code for code, _ in found.queries})),
        systems=tuple(sorted({system for *_, system in found.answers})),
        reference_system=reference_system,
        source=rows.source,
        note=note,
    )
    return ForeignArena(found.arena(info, most_pairs), skipped_table(skips))


def _chosen_columns(rows: Rows, named: Mapping[str, str]) -> dict[str, str]:
    """Return the column of each field that has one: the one named, else one of a known name."""
    there = columns_of(rows)
    for ours, column in named.items():
        checked_choice(ours, FIELDS, "field of a table of answers")
        if column not in there and not rows.problems:
            raise UsageError(f"{rows.source} has no column {column!r}; it has {_listed(there)}")
    chosen = {}
    for ours, names in FIELDS.items():
        free = [name for name in names if name in there and name not in named.values()]
        if ours in named or free:
            chosen[ours] = named.get(ours) or free[0]
    return chosen


def _holds_pairs(rows: Rows, chosen: Mapping[str, str]) -> bool:
    for kind in (ONE_PAIR, ONE_ANSWER):
        if all(ours in chosen for ours in kind):
            return kind == ONE_PAIR
    if rows.problems:
        raise DataError(rows.problems)
    raise UsageError(
        f"{rows.source} has the columns {_listed(columns_of(rows))}; a table of answers needs "
        f"{', '.join(ONE_ANSWER)}, one of pairs {', '.join(ONE_PAIR)}; say which is which with "
        "--column, such as --column question=title"
    )


def _listed(columns: Iterable[str]) -> str:
    return ", ".join(sorted(columns)) or "none"


Key = tuple[str, str]
Values = Mapping[str, Any]


@dataclass
class _Collected:
    """What the rows of a table say, brought into our tables row by row."""

    source: str
    columns: Mapping[str, str]
    language: str
    judge: str | None
    queries: dict[Key, dict[str, Any]] = field(default_factory=dict)
    answers: dict[tuple[str, str, str], dict[str, Any]] = field(default_factory=dict)
    judgments: list[dict[str, Any]] = field(default_factory=list)
    marks: list[dict[str, Any]] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    skips: list[Skip] = field(default_factory=list)

    def add(self, line: int, values: Values, sides: Sequence[str]) -> None:
        """Add a row; ``sides`` are the endings of the fields of its answers."""
        code = self._language(line, values)
        named = ["question", *(f"system{side}" for side in sides)]
        said = [f"answer{side}" for side in sides]
        sound = [self._is_text(line, ours, values) for ours in named]
        sound += [self._is_text(line, ours, values, may_lack=True) for ours in said]
        if code is None or not all(sound):
            return
        key = (code, self._query_id(values))
        is_pair = len(sides) == 2
        passages = self._passages(line, values)
        if passages is None or not self._adds_question(line, key, values, passages, is_pair):
            return
        for side in sides:
            self._add_answer(line, key, values[f"system{side}"], values[f"answer{side}"], is_pair)
            if passages and not is_pair:
                self.answers[*key, values["system"]]["passages"] = passages
        if values.get("reference") is not None and self._is_text(line, "reference", values):
            self._add_answer(line, key, REFERENCE, values["reference"], may_repeat=True)
        if "winner" in values and is_pair:
            self._add_judgment(line, key, values)
        if "verdict" in values and not is_pair:
            self._add_mark(line, key, values)

    def arena(self, info: ArenaInfo, most_pairs: int | None) -> Arena:
        """Put the arena together, and check it as any other."""
        judged = _rows(self.judgments, list(JUDGMENTS.columns), self.source)
        if self.marks:
            table = judgments_of_marks(pd.DataFrame(self.marks), most_pairs)
            judged = as_rows(table, f"verdicts of {self.source}")
        self._share_passages()
        queries = _rows(list(self.queries.values()), list(QUERIES.columns), self.source)
        columns = [*ANSWERS.columns, OWN_PASSAGES]
        answers = _rows(list(self.answers.values()), columns, self.source)
        return checked_arena(info, queries, answers, judged)

    def _share_passages(self) -> None:
        """Keep what the answers to a question have in common with it, and own ones with each."""
        own = {key for key, query in self.queries.items() if query["differs"]}
        for key in own:
            self.queries[key]["passages"] = []
        for (code, query_id, _), answer in self.answers.items():
            if (code, query_id) not in own:
                answer["passages"] = None

    def _language(self, line: int, values: Values) -> str | None:
        given = values.get("language")
        if given is None:
            return self.language
        code = language_code(given) if isinstance(given, str) else None
        if code is None:
            hint = "use a code such as 'en', or an English name"
            self._fault(line, "language", given, "is not a language known by name", hint)
        return code

    def _is_text(self, line: int, ours: str, values: Values, may_lack: bool = False) -> bool:
        """Tell whether a field holds a text; CSV has no empty one, so that an answer may lack."""
        value = values[ours]
        if isinstance(value, str) and (may_lack or value.strip()):
            return True
        if value is None and may_lack:
            return True
        fault = "is missing" if value is None else "is no text"
        self._fault(line, ours, value, fault, "give it a text")
        return False

    def _query_id(self, values: Values) -> str:
        given = values.get("query_id")
        return question_id(values["question"]) if given is None else str(given)

    def _passages(self, line: int, values: Values) -> list[dict[str, Any]] | None:
        try:
            return passages_of(values.get("passages"))
        except ValueError as error:
            hint = "give a text, a list of texts, or a list of {passage_id, text}"
            self._fault(line, "passages", values.get("passages"), str(error), hint)
            return None

    def _adds_question(
        self, line: int, key: Key, values: Values, passages: list[dict[str, Any]], is_pair: bool
    ) -> bool:
        code, query_id = key
        new = {"query_id": query_id, "language": code, "query": values["question"]}
        known = self.queries.setdefault(
            key, new | {"passages": passages, "line": line, "differs": False}
        )
        known["passages"] = known["passages"] or passages
        differs = bool(passages) and passages != known["passages"]
        known["differs"] |= differs
        differing = {
            "question": known["query"] != values["question"],
            "passages": differs and is_pair,
        }
        for ours in (ours for ours, differs in differing.items() if differs):
            fault = f"differs from that of the same question on line {known['line']}"
            hint = "give each question one text and one list of passages"
            self._fault(line, ours, values[ours], fault, hint)
        return not any(differing.values())

    def _add_answer(
        self, line: int, key: Key, system: str, given: str | None, may_repeat: bool
    ) -> None:
        code, query_id = key
        answer = given or ""
        new = {"query_id": query_id, "language": code, "system": system, "answer": answer}
        known = self.answers.setdefault((*key, system), new | {"line": line})
        if known["line"] != line and not (may_repeat and known["answer"] == answer):
            fault = f"has answered this question on line {known['line']}"
            self._fault(line, "system", system, fault, "keep one of its answers")

    def _add_judgment(self, line: int, key: Key, values: Values) -> None:
        given = values["winner"]
        if given is None:
            self.skips.append(Skip(self.source, "judgment", "it has no winner"))
            return
        winner = WINNERS.get(given) if isinstance(given, str) else None
        if winner is None:
            hint = f"write one of {', '.join(WINNERS)}, or nothing"
            self._fault(line, "winner", given, "is not a winner", hint)
            return
        row = self._judged(key, values) | {"winner": winner, "line": line}
        sides = {side: values[side] for side in ("system_a", "system_b")}
        self.judgments.append(row | sides)

    def _add_mark(self, line: int, key: Key, values: Values) -> None:
        given = values["verdict"]
        if given is None:
            self.skips.append(Skip(self.source, "verdict", "it is missing"))
            return
        mark = _number(given)
        if mark is None:
            hint = "write a number, the higher the better, or nothing"
            self._fault(line, "verdict", given, "is no number", hint)
            return
        self.marks.append(self._judged(key, values) | {"system": values["system"], "mark": mark})

    def _judged(self, key: Key, values: Values) -> dict[str, Any]:
        code, query_id = key
        judge = values.get("judge") or self.judge or JUDGE
        return {"language": code, "query_id": query_id, "judge": str(judge)}

    def _fault(self, line: int, ours: str, value: object, fault: str, hint: str) -> None:
        column = self.columns.get(ours, ours)
        self.problems.append(Problem(self.source, line, column, value, fault, hint))


def _rows(records: list[dict[str, Any]], columns: list[str], source: str) -> Rows:
    table = pd.DataFrame(records, columns=[*columns, "line"], dtype=object)
    return Rows(table[columns], table["line"].astype(int), source)


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        found = float(value)
    except ValueError:
        return None
    return found if math.isfinite(found) else None
