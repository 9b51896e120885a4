"""WikiEval's pairs: of its published rows, or of its public recast.

The published rows hold a question's three answers and two contexts. The recast gives the two texts
of a question in a shuffled order: which is the better one is told from where they come from. A text
that stands in two files may be spelled a little otherwise in one of them, where its encoding
suffered on the way; so the most alike counts, if it is alike enough.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Literal, get_args

import pandas as pd
from pydantic import BaseModel, BeforeValidator, ConfigDict, create_model
from rapidfuzz.fuzz import ratio

from arena.data.errors import Problem, UsageError, checked_choice
from arena.data.rows import SUFFIXES
from arena.data.wording import count_of
from surrogate.metaevaluation.records import FilledText, raise_if, read_records, repeats

Criterion = Literal["faithfulness", "answer_relevance", "context_relevance"]
CRITERIA: tuple[Criterion, ...] = get_args(Criterion)
FAITHFULNESS: Criterion = "faithfulness"
ANSWER_RELEVANCE: Criterion = "answer_relevance"
CONTEXT_RELEVANCE: Criterion = "context_relevance"

FILES = MappingProxyType[Criterion, str](
    {FAITHFULNESS: "ff.csv", ANSWER_RELEVANCE: "ar.csv", CONTEXT_RELEVANCE: "cr.csv"}
)
COMPARED = MappingProxyType[Criterion, str](
    {FAITHFULNESS: "answer", ANSWER_RELEVANCE: "answer", CONTEXT_RELEVANCE: "context"}
)
"""The column that holds the texts that are compared."""
PAIR_COLUMNS = ["criterion", "question", "context", "better", "worse"]
"""Columns of a table of pairs."""

ALIKE = 95.0
"""Percent of characters that must agree for two texts to count as one."""

PairRow = tuple[str, str, str | None, str, str]
_ANSWER: Any = {"answer": (FilledText, ...)}
_CONTEXT: Any = {"context": (FilledText, ...)}


def read_wikieval(path: Path | str, criteria: Sequence[str] = ()) -> pd.DataFrame:
    """Read WikiEval's pairs, of the published data set or of its public recast.

    The published rows (explodinggradients/WikiEval) hold ``question, answer, ungrounded_answer,
    poor_answer, context_v1, context_v2``: the first answer, and the first context, are the better
    ones. In the recast the answer that was written from the context stands in both ``ff.csv`` and
    ``ar.csv``, beside one written without it and one made incomplete; the context without added
    sentences is the one in ``ff.csv``.

    Args:
        path: A file of published rows (JSONL, CSV or Parquet), or a folder that holds one, itself
            or in ``data``; or a folder with ``ff.csv`` (faithfulness: ``question, context,
            answer``), ``ar.csv`` (answer relevance: ``question, answer``) and ``cr.csv`` (context
            relevance: ``question, context``); each question stands in two rows.
        criteria: Of ``CRITERIA``; all if left out.

    Returns:
        One row a pair, columns ``PAIR_COLUMNS``: ``context`` is the one answers were written
        from, None but for faithfulness.

    Raises:
        UsageError: If there is no such folder or file, or for an unknown criterion.
        DataError: With every problem: file, line, column, value and hint.
    """
    path = Path(path)
    wanted = {checked_choice(name, CRITERIA, "criterion") for name in criteria}
    chosen = [name for name in CRITERIA if not wanted or name in wanted]
    if not path.exists():
        raise UsageError(
            f"there is no folder or file {path}; give WikiEval's rows, or the folder with ff.csv, "
            "ar.csv, cr.csv of its recast"
        )
    published = None
    if not any((path / name).is_file() for name in FILES.values()):
        published = _published_file(path)
    rows = _recast_pairs(path, chosen) if published is None else _published_pairs(published, chosen)
    return pd.DataFrame(rows, columns=PAIR_COLUMNS, dtype=object)


def _joined(value: object) -> object:
    """Contexts are lists of texts in the public files."""
    is_list = isinstance(value, list) and all(isinstance(text, str) for text in value)
    return "\n".join(value) if is_list and isinstance(value, list) else value


Context = Annotated[FilledText, BeforeValidator(_joined)]


class PublishedQuestion(BaseModel):
    """A row as it is published."""

    model_config = ConfigDict(strict=True, extra="ignore")

    question: FilledText
    answer: FilledText
    ungrounded_answer: FilledText
    poor_answer: FilledText
    context_v1: Context
    context_v2: Context

    def pair(self, criterion: Criterion) -> PairRow:
        """Return the pair of a criterion."""
        context = self.context_v1 if criterion == FAITHFULNESS else None
        texts = {
            FAITHFULNESS: (self.answer, self.ungrounded_answer),
            ANSWER_RELEVANCE: (self.answer, self.poor_answer),
            CONTEXT_RELEVANCE: (self.context_v1, self.context_v2),
        }[criterion]
        return criterion, self.question, context, *texts


def _published_file(path: Path) -> Path | None:
    """Return the file of published rows: the path, or the only one in its folder or ``data/``."""
    if not path.is_dir():
        return path
    folders = [folder for folder in (path, path / "data") if folder.is_dir()]
    files = [each for folder in folders for each in sorted(folder.iterdir())]
    found = [each for each in files if each.name.endswith(SUFFIXES)]
    if len(found) > 1:
        names = ", ".join(each.name for each in found)
        raise UsageError(f"{path} holds {names}; name the one that holds WikiEval's questions")
    return found[0] if found else None


def _published_pairs(path: Path, criteria: Sequence[Criterion]) -> list[PairRow]:
    problems: list[Problem] = []
    rows = read_records(path, PublishedQuestion, problems)
    problems += repeats(path, [(line, row.question) for line, row in rows], "question")
    raise_if(problems)
    return [row.pair(criterion) for criterion in criteria for _, row in rows]


class RecastRow(BaseModel):
    """A row of any of the recast's files."""

    model_config = ConfigDict(extra="ignore")

    question: FilledText


_RECORDS: Mapping[Criterion, type[RecastRow]] = MappingProxyType(
    {
        FAITHFULNESS: create_model("AnswerInContext", __base__=RecastRow, **_ANSWER, **_CONTEXT),
        ANSWER_RELEVANCE: create_model("AnswerAlone", __base__=RecastRow, **_ANSWER),
        CONTEXT_RELEVANCE: create_model("ContextAlone", __base__=RecastRow, **_CONTEXT),
    }
)


def _recast_pairs(folder: Path, chosen: Sequence[Criterion]) -> list[PairRow]:
    needed = {FAITHFULNESS, *chosen, *([ANSWER_RELEVANCE] if FAITHFULNESS in chosen else [])}
    problems: list[Problem] = []
    files = {name: _recast_file(folder, name, problems) for name in CRITERIA if name in needed}
    raise_if(problems)
    pairs: list[PairRow] = []
    for criterion in chosen:
        other = ANSWER_RELEVANCE if criterion == FAITHFULNESS else FAITHFULNESS
        column = COMPARED[criterion]
        for question, rows in files[criterion].items():
            there = [row[column] for _, row in files[other].get(question, ())]
            texts = [row[column] for _, row in rows]
            scores = [max([ratio(text, each) for each in there], default=0.0) for text in texts]
            better = int(scores[1] > scores[0])
            if scores[better] < ALIKE or scores[0] == scores[1]:
                fault = f"no one {column} of it is the one in {FILES[other]}"
                hint = "take the files of one edition of WikiEval"
                where = (FILES[criterion], rows[0][0], "question", question)
                problems.append(Problem(*where, fault, hint))
            context = rows[0][1]["context"] if criterion == FAITHFULNESS else None
            pairs.append((criterion, question, context, texts[better], texts[1 - better]))
    raise_if(problems)
    return pairs


def _recast_file(
    folder: Path, criterion: Criterion, problems: list[Problem]
) -> dict[str, list[tuple[int, dict[str, Any]]]]:
    """Return the two rows of each question with their lines; adds what is wrong to the problems."""
    path = folder / FILES[criterion]
    if not path.is_file():
        raise UsageError(f"{folder} holds no {path.name}, which is for {criterion}")
    found: dict[str, list[tuple[int, dict[str, Any]]]] = {}
    faults: list[Problem] = []
    for line, row in read_records(path, _RECORDS[criterion], faults):
        found.setdefault(row.question, []).append((line, row.model_dump()))
    for question, rows in found.items():
        where = (path.name, rows[0][0])
        if len(rows) != 2 and not faults:
            fault = f"stands in {count_of(len(rows), 'row')}"
            problems.append(Problem(*where, "question", question, fault, "give it two rows"))
        elif criterion == FAITHFULNESS and len({row["context"] for _, row in rows}) != 1:
            fault = "differs from that of the question's other row"
            value = rows[0][1]["context"]
            problems.append(Problem(*where, "context", value, fault, "give both rows one context"))
    problems += faults
    return found
