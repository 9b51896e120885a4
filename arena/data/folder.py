"""The native arena folder: reading, checking and writing it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import pandas as pd
import pandera.pandas as pa
from pydantic import ValidationError

from arena.data.errors import DataError, Problem, UsageError
from arena.data.files import atomic_path
from arena.data.published import TABLE as PUBLISHED_TABLE
from arena.data.published import no_published_ratings, published_ratings
from arena.data.rows import CSV_SUFFIXES, SUFFIXES, Rows, read_rows, write_rows
from arena.data.schema import (
    ANSWER_KEY,
    ANSWERS,
    INFO_FILE,
    JUDGMENTS,
    QUERIES,
    QUESTION_KEY,
    ArenaInfo,
    check_table,
    duplicates,
    reference_problems,
    self_judgments,
    undeclared,
    unknown_questions,
    validation_problems,
)
from arena.data.systems import (
    SYSTEMS_TABLE,
    no_attributes,
    system_attributes,
    twin_problems,
    with_own_passages,
    write_attributes,
)

TABLES = ("queries", "answers", "judgments")
ARENA_SUFFIXES = tuple(suffix for suffix in SUFFIXES if suffix not in CSV_SUFFIXES)


@dataclass(frozen=True)
class Arena:
    """An arena: questions, the systems' answers, and judgments or published ratings of them.

    Attributes:
        info: Name, languages, systems, reference system.
        queries: Columns ``query_id, language, query, passages``.
        answers: Columns ``query_id, language, system, answer`` (raw output), and ``passages``
            where systems were given others than the question's: a list as there, or None.
        judgments: Columns ``query_id, language, system_a, system_b, winner, judge``.
        published_ratings: Columns ``judge, language, system, rating, standard_error`` (logits;
            NaN without an error), also of systems that the arena does not have.
        attributes: What systems are made of: columns ``system`` and one an attribute, such as
            ``model`` or ``retriever``, texts or None.
    """

    info: ArenaInfo
    queries: pd.DataFrame
    answers: pd.DataFrame
    judgments: pd.DataFrame
    published_ratings: pd.DataFrame = field(default_factory=no_published_ratings)
    attributes: pd.DataFrame = field(default_factory=no_attributes)

    @classmethod
    def from_frames(
        cls,
        questions: pd.DataFrame,
        answers: pd.DataFrame,
        judgments: pd.DataFrame | None = None,
        passages: pd.DataFrame | None = None,
        *,
        name: str = "arena",
        language: str | None = None,
        judge: str | None = None,
        systems: Sequence[str] | None = None,
        reference_system: str | None = None,
        published_ratings: pd.DataFrame | None = None,
        attributes: pd.DataFrame | None = None,
        source: str = "",
        note: str = "",
    ) -> Arena:
        """Make an arena of tables in memory, checked as strictly as a folder is.

        Whole numbers in columns of keys are taken as texts; further columns are kept.

        Args:
            questions: ``query_id, query``, and ``language`` unless it is given for all; may have
                ``passages``: a list of texts, or of ``{passage_id, text, title, relevance}``.
            answers: ``query_id, system, answer``. Without ``language`` they have that of their
                question, as judgments and passages have, where ids of questions are unique. May
                have ``passages`` of their own: lists of ids, or of records as questions have.
            judgments: ``query_id, system_a, system_b, winner`` ("a", "b" or "tie"), and ``judge``
                unless it is given for all.
            passages: ``query_id, passage_id, text``, and ``title``, ``relevance`` (1, 0, or
                nothing where it was not judged) if there are any, one row a passage.
            name: Name of the arena.
            language: Language code of rows that name none.
            judge: Judge of rows that name none.
            systems: Systems that may answer and be judged; by default those that answer.
            reference_system: System whose answers serve as reference.
            published_ratings: As ``published_ratings.csv``; see ``arena.data.published``.
            attributes: ``system``, and columns such as ``model``, ``retriever``.
            source: Where the data come from.
            note: Anything a reader should know.

        Raises:
            UsageError: If something is no DataFrame, or passages are given twice.
            DataError: With every problem of every table: table, row (as ``iloc``), column, value.
        """
        from arena.data.frames import arena_from_frames

        return arena_from_frames(
            *(questions, answers, judgments, passages),
            name=name,
            language=language,
            judge=judge,
            systems=systems,
            reference_system=reference_system,
            published_ratings=published_ratings,
            attributes=attributes,
            source=source,
            note=note,
        )

    @property
    def judges(self) -> tuple[str, ...]:
        """Names of those who judged, or whose ratings are published, sorted."""
        return tuple(sorted({*self.judgments["judge"], *self.published_ratings["judge"]}))

    @property
    def rated_systems(self) -> tuple[str, ...]:
        """Systems of the arena that are judged or have a published rating, sorted."""
        published = set(self.published_ratings["system"]) & set(self.info.systems)
        return tuple(sorted({*self.judgments["system_a"], *self.judgments["system_b"], *published}))

    def counts(self) -> pd.DataFrame:
        """Count ``questions, systems, answers, judgments``, a row a language."""
        sizes = {
            "questions": self.queries["language"].value_counts(),
            "systems": self.answers.groupby("language")["system"].nunique(),
            "answers": self.answers["language"].value_counts(),
            "judgments": self.judgments["language"].value_counts(),
        }
        counts = pd.DataFrame(sizes).reindex(list(self.info.languages)).fillna(0).astype(int)
        return counts.reset_index(names="language")

    def _repr_html_(self) -> str:
        """Show in a notebook how much of what the arena holds, by language."""
        from arena.data.frames import notebook_html

        said = (
            f"Systems: {', '.join(self.info.systems)}. Judges: {', '.join(self.judges) or 'none'}."
        )
        return notebook_html(f"Arena {self.info.name}", said, self.counts())

    def __repr__(self) -> str:
        """Say how much the arena holds."""
        return (
            f"<Arena {self.info.name!r}: {len(self.queries)} questions in "
            f"{', '.join(self.info.languages)}, {len(self.answers)} answers by "
            f"{len(self.info.systems)} systems, {len(self.judgments)} judgments>"
        )

    def judged_by(self, judge: str | None = None) -> Arena:
        """Keep one judge's judgments, or published ratings.

        Args:
            judge: Name of the judge; may be left out where the arena has only one, not counting
                further columns of published ratings (``published:length_controlled_winrate``).

        Raises:
            UsageError: If there is no judgment and no published rating, no such judge, or a
                choice to be made.
        """
        names = self.judges
        if not names:
            raise UsageError(f"arena {self.info.name!r} has no judgments to learn from")
        main = [name for name in names if name.rpartition(":")[0] not in names]
        if judge is None and len(main) > 1:
            raise UsageError(f"several judges; choose one with `judge`: {', '.join(names)}")
        chosen = main[0] if judge is None else judge
        if chosen not in names:
            raise UsageError(f"no judge {chosen!r} here; the judges are {', '.join(names)}")
        judgments, published = (
            table[table["judge"] == chosen].reset_index(drop=True)
            for table in (self.judgments, self.published_ratings)
        )
        return replace(self, judgments=judgments, published_ratings=published)


def read_arena(folder: Path | str) -> Arena:
    """Read and check an arena folder.

    Args:
        folder: Holds ``arena.json`` and the files ``queries``, ``answers``, ``judgments`` and
            ``published_ratings``, ``systems`` (all three optional), each as ``.jsonl``,
            ``.jsonl.gz``, ``.jsonl.zst``, ``.csv`` (not queries) or ``.parquet``.

    Raises:
        UsageError: If the folder or one of its files is absent or there twice.
        DataError: If the content is at fault; lists all problems of all files.
    """
    folder = Path(folder)
    info = read_info(folder)
    queries = _read_queries(_table_file(folder, "queries"))
    answers = _read_answers(_table_file(folder, "answers"))
    judgments, published, systems = (
        read_rows(path) if (path := find_table_file(folder, name)) else None
        for name in ("judgments", PUBLISHED_TABLE, SYSTEMS_TABLE)
    )
    return checked_arena(info, queries, answers, judgments, published, systems)


def open_arena(arena: Arena | Path | str) -> Arena:
    """Return an arena, read from its folder if a path is given.

    Raises:
        UsageError: If it is something else, or the folder is no arena folder.
        DataError: If the content of the folder is at fault.
    """
    if isinstance(arena, Arena):
        return arena
    if isinstance(arena, Path | str):
        return read_arena(arena)
    raise UsageError(
        f"an object of type {type(arena).__name__} is no arena; give Arena.from_frames(questions, "
        "answers, judgments), or the path of an arena folder"
    )


def checked_arena(
    info: ArenaInfo,
    queries: Rows,
    answers: Rows,
    judgments: Rows | None = None,
    published: Rows | None = None,
    systems: Rows | None = None,
) -> Arena:
    """Build an arena from rows, checking each table and what ties them together.

    Args:
        info: What ``arena.json`` says.
        queries: Questions.
        answers: Answers.
        judgments: Judgments, if any.
        published: Published ratings, if any; see ``arena.data.published``.
        systems: What systems are made of, if it is told: ``system`` and one column an attribute.

    Raises:
        DataError: With every problem of every table.
    """
    queries = _with_columns(queries, QUERIES)
    answers = _with_columns(answers, ANSWERS)
    judgments = _with_columns(judgments or empty_rows(JUDGMENTS), JUDGMENTS)
    parts = [(queries, QUERIES), (answers, ANSWERS), (judgments, JUDGMENTS)]
    problems = [problem for rows, schema in parts for problem in _row_problems(rows, schema)]
    ratings, attributes = no_published_ratings(), no_attributes()
    if not problems:
        ratings, faults = _published(published, info, queries, judgments)
        attributes, unclear = system_attributes(systems, info.systems)
        problems = [
            *duplicates(queries, QUESTION_KEY, "query"),
            *duplicates(answers, ANSWER_KEY, "answer"),
            *undeclared(queries, "language", info.languages, "languages"),
            *undeclared(answers, "system", info.systems, "systems"),
            *unknown_questions(answers, queries, "answer"),
            *unknown_questions(judgments, queries, "judgment"),
            *undeclared(judgments, "system_a", info.systems, "systems"),
            *undeclared(judgments, "system_b", info.systems, "systems"),
            *self_judgments(judgments),
            *reference_problems(info, queries.is_frame),
            *twin_problems(
                info.systems, INFO_FILE if not queries.is_frame else "systems", "systems"
            ),
            *faults,
            *unclear,
        ]
    if not problems:
        answers, problems = with_own_passages(answers, queries.table)
    if problems:
        raise DataError(problems)
    return Arena(
        info,
        _typed(queries.table, QUERIES),
        _typed(answers.table, ANSWERS),
        _typed(judgments.table, JUDGMENTS),
        ratings,
        attributes,
    )


def _published(
    rows: Rows | None, info: ArenaInfo, queries: Rows, judgments: Rows
) -> tuple[pd.DataFrame, list[Problem]]:
    if rows is None:
        return no_published_ratings(), []
    asked = {str(name): len(part) for name, part in queries.table.groupby("language")}
    judges = sorted(set(judgments.table["judge"]))
    return published_ratings(rows, info.languages, asked, judges)


def read_answers(path: Path | str, queries: pd.DataFrame) -> pd.DataFrame:
    """Read the answers of new systems to the questions of an arena.

    Args:
        path: File of answers in any row format.
        queries: Query table of the arena they answer.

    Returns:
        Columns ``query_id, language, system, answer``, and ``passages`` where some have their own.

    Raises:
        DataError: For malformed or duplicate answers and answers to unknown questions.
    """
    path = Path(path)
    if not path.is_file():
        raise UsageError(f"there is no file of answers at {path}")
    return checked_answers(_read_answers(path), queries)


def checked_answers(answers: Rows, queries: pd.DataFrame) -> pd.DataFrame:
    """Check answers to the questions of an arena.

    Args:
        answers: Rows of a file, or ``rows_of`` a table in memory.
        queries: Query table of the arena they answer.

    Returns:
        Columns ``query_id, language, system, answer``, and ``passages`` where some have their own.

    Raises:
        DataError: For malformed or duplicate answers and answers to unknown questions.
    """
    answers = _with_columns(answers, ANSWERS)
    problems = _row_problems(answers, ANSWERS)
    if not problems:
        problems = [
            *duplicates(answers, ANSWER_KEY, "answer"),
            *unknown_questions(answers, as_rows(queries, "queries"), "answer"),
            *twin_problems(answers.table["system"], answers.source, "system"),
        ]
    if not problems:
        answers, problems = with_own_passages(answers, queries)
    if problems:
        raise DataError(problems)
    return _typed(answers.table, ANSWERS)


def write_arena(arena: Arena, folder: Path | str, suffix: str = ".jsonl.gz") -> None:
    """Write an arena folder; the same arena gives the same bytes.

    Args:
        arena: What to write.
        folder: Created if absent; files of the same name are replaced.
        suffix: Format of the tables, one of ``.jsonl``, ``.jsonl.gz``, ``.jsonl.zst``,
            ``.parquet``; published ratings and attributes are always CSV.

    Raises:
        UsageError: If the suffix is another one, or the folder holds a table in another format
            (which would then be there twice).
    """
    folder = Path(folder)
    if suffix not in ARENA_SUFFIXES:
        raise UsageError(f"cannot write an arena as {suffix}; use {', '.join(ARENA_SUFFIXES)}")
    _refuse_other_formats(folder, suffix)
    folder.mkdir(parents=True, exist_ok=True)
    with atomic_path(folder / INFO_FILE) as path:
        text = json.dumps(arena.info.model_dump(mode="json"), indent=2, ensure_ascii=False)
        path.write_text(text + "\n", encoding="utf-8")
    for name, table in zip(TABLES, (arena.queries, arena.answers, arena.judgments), strict=True):
        write_rows(table, folder / f"{name}{suffix}")
    published = folder / f"{PUBLISHED_TABLE}.csv"
    if len(arena.published_ratings):
        write_rows(arena.published_ratings, published)
    else:
        published.unlink(missing_ok=True)
    write_attributes(arena.attributes, folder / f"{SYSTEMS_TABLE}.csv")


def read_info(folder: Path) -> ArenaInfo:
    """Read ``arena.json``.

    Raises:
        UsageError: If the folder or the file is absent.
        DataError: If the file is malformed; names each field.
    """
    path = folder / INFO_FILE
    if not path.is_file():
        raise UsageError(f"{folder} is not an arena folder: it has no {INFO_FILE}")
    try:
        return ArenaInfo.model_validate_json(path.read_bytes())
    except ValidationError as error:
        raise DataError(
            validation_problems(
                error, INFO_FILE, None, lambda _: "see the README for what arena.json holds"
            )
        ) from error


def as_rows(table: pd.DataFrame, source: str) -> Rows:
    """Wrap a table already in memory so that it can be checked like a file."""
    return Rows(
        table.reset_index(drop=True), pd.Series(range(1, len(table) + 1), dtype=int), source
    )


def empty_rows(schema: pa.DataFrameSchema) -> Rows:
    """Rows of a table that has none."""
    return as_rows(pd.DataFrame(columns=list(schema.columns), dtype=object), str(schema.name))


def _with_columns(rows: Rows, schema: pa.DataFrameSchema) -> Rows:
    """Give a file without any row or header the columns of its table."""
    if len(rows.table.columns) or len(rows.lines) or rows.problems:
        return rows
    return replace(empty_rows(schema), source=rows.source)


def _read_queries(path: Path) -> Rows:
    if path.name.endswith(CSV_SUFFIXES):
        hint = "write them as queries.jsonl or queries.parquet"
        raise UsageError(f"{path}: queries hold passages, which CSV cannot; {hint}")
    return read_rows(path)


def _read_answers(path: Path) -> Rows:
    """Read answers; an empty CSV cell is the empty answer, for CSV has no null."""
    rows = read_rows(path)
    if path.name.endswith(CSV_SUFFIXES) and "answer" in rows.table.columns:
        answer = rows.table["answer"].map(lambda text: "" if text is None else text)
        return replace(rows, table=rows.table.assign(answer=answer.astype(object)))
    return rows


def _refuse_other_formats(folder: Path, suffix: str) -> None:
    written = dict.fromkeys(TABLES, suffix) | dict.fromkeys(
        (PUBLISHED_TABLE, SYSTEMS_TABLE), ".csv"
    )
    others = [
        f"{name}{other}"
        for name, own in written.items()
        for other in SUFFIXES
        if other != own and (folder / f"{name}{other}").is_file()
    ]
    if others:
        raise UsageError(
            f"{folder} holds an arena in another format ({', '.join(others)}); "
            f"remove those files or write to a new folder"
        )


def find_table_file(folder: Path, name: str) -> Path | None:
    """Return the file of a table of an arena folder, or None.

    Raises:
        UsageError: If there are several.
    """
    found = [path for suffix in SUFFIXES if (path := folder / f"{name}{suffix}").is_file()]
    if len(found) > 1:
        names = ", ".join(path.name for path in found)
        raise UsageError(f"{folder} holds the same table several times ({names}); keep one")
    return found[0] if found else None


def _table_file(folder: Path, name: str) -> Path:
    path = find_table_file(folder, name)
    if path is None:
        raise UsageError(f"{folder} has no {name} file; expected {name}.jsonl or the like")
    return path


def _row_problems(rows: Rows, schema: pa.DataFrameSchema) -> list[Problem]:
    if rows.table.empty and rows.problems:
        return list(rows.problems)
    found = check_table(rows, schema)
    return sorted([*rows.problems, *found], key=lambda problem: problem.line or 0)


def _typed(table: pd.DataFrame, schema: pa.DataFrameSchema) -> pd.DataFrame:
    known = list(schema.columns)
    texts = [column for column in known if column != "passages"]
    further = [column for column in table.columns if column not in known]
    return table[known + further].reset_index(drop=True).astype(dict.fromkeys(texts, "str"))
