"""An arena: questions, answers, and judgments or published ratings of them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

import pandas as pd
from pydantic import ValidationError

from arena.data.answer_digests import without_outdated
from arena.data.checks import table_problems, unknown_questions, validation_problems
from arena.data.errors import DataError, Problem, UsageError, argument
from arena.data.frames import (
    distinct_texts,
    empty_rows,
    frame_rows,
    row_problems,
    rows_of_frame,
    typed_table,
    with_columns,
    with_default,
    with_passages,
)
from arena.data.judges import chosen_judges, judges_named
from arena.data.languages import is_language_code, language_hint
from arena.data.names import dropped_names, without_names
from arena.data.published import no_published_ratings, published_ratings
from arena.data.rows import Rows, named_by_criterion, selected_columns, without_rows
from arena.data.schema import (
    ANSWERS,
    CRITERION,
    FURTHER,
    JUDGMENTS,
    OWN_PASSAGES,
    QUERIES,
    QUESTION_KEY,
    REFERENCE,
    ArenaInfo,
)
from arena.data.systems import no_attributes, system_attributes, with_own_passages
from arena.data.wording import count_of, notebook_html


def _no_judgments() -> pd.DataFrame:
    return typed_table(empty_rows(JUDGMENTS), JUDGMENTS)


@dataclass(frozen=True)
class Arena:
    """An arena: questions, the systems' answers, and judgments or published ratings of them.

    Attributes:
        info: Name, languages, systems, reference system.
        queries: Columns ``query_id, language, query, passages``; perhaps ``reference`` (a reference
            answer) and ``history``: a list of ``{role, content}``.
        answers: Columns ``query_id, language, system, answer`` (raw output); perhaps own
            ``passages`` or ``history``, ``cost`` (in ``currency``), ``latency`` (seconds),
            ``tokens``.
        judgments: Columns ``query_id, language, system_a, system_b, winner, judge``. A
            ``criterion`` ends the judge's name: ``gpt-4o:fluency``.
        outdated: Judgments that do not count, since an answer was edited after them.
        published_ratings: Columns ``judge, language, system, rating, standard_error`` (logits; NaN
            without).
        attributes: ``system`` and one column per attribute, such as ``model``.
        further: Further tables by question, by their names.
    """

    info: ArenaInfo
    queries: pd.DataFrame
    answers: pd.DataFrame
    judgments: pd.DataFrame
    published_ratings: pd.DataFrame = field(default_factory=no_published_ratings)
    attributes: pd.DataFrame = field(default_factory=no_attributes)
    further: Mapping[str, pd.DataFrame] = field(default_factory=dict)
    outdated: pd.DataFrame = field(default_factory=_no_judgments)

    @classmethod
    def from_frames(
        cls,
        questions: pd.DataFrame,
        answers: pd.DataFrame,
        judgments: pd.DataFrame | None = None,
        *,
        language: str | None = None,
        judge: str | None = None,
        published_ratings: pd.DataFrame | None = None,
        attributes: pd.DataFrame | None = None,
        **info: object,
    ) -> Arena:
        """Make an arena of tables in memory, checked as strictly as a folder is.

        Takes tables of pandas, polars, pyarrow or DuckDB; whole numbers in key columns become
        texts, and further columns stay.

        Args:
            questions: ``query_id, query``; perhaps ``language``, ``history`` and ``passages``:
                lists of texts or of ``{passage_id, text, title, relevance}``.
            answers: ``query_id, system, answer``; ``language`` where ids are not unique; perhaps
                the further columns of ``Arena.answers``.
            judgments: ``query_id, system_a, system_b, winner`` ("a", "b" or "tie"); perhaps
                ``judge``.
            language: Code of the language of tables without this column.
            judge: Judge of judgments without this column.
            published_ratings: As ``published_ratings.csv``.
            attributes: As ``Arena.attributes``.
            info: Further fields of ``ArenaInfo``.

        Returns:
            The arena, checked.

        Raises:
            UsageError: If something is not a table.
            DataError: With every problem: table, row (as ``iloc``), column, value.

        Examples:
            >>> import pandas as pd
            >>> questions = pd.DataFrame({"query_id": ["q1"], "query": ["Who wrote Faust?"]})
            >>> answers = pd.DataFrame({"query_id": ["q1"], "system": ["x"], "answer": ["Goethe."]})
            >>> Arena.from_frames(questions, answers, language="en")
            <Arena 'arena': 1 question in en, 1 answer by 1 system, 0 judgments>
        """
        if language is not None and not is_language_code(language):
            fault = "is not a language code"
            hint = language_hint(language)
            raise DataError([Problem("from_frames", None, "language", language, fault, hint)])
        query_rows = rows_of_frame(questions, "questions", QUERIES, language)
        answer_rows = rows_of_frame(answers, "answers", ANSWERS, language, query_rows)
        judgment_rows = rows_of_frame(judgments, "judgments", JUDGMENTS, language, query_rows)
        languages = sorted(distinct_texts(query_rows, "language"))
        fields: dict[str, object] = {
            "name": "arena",
            "languages": [code for code in languages if is_language_code(code)],
            "systems": distinct_texts(answer_rows, "system"),
        }
        fields.update(info)
        return checked_arena(
            _checked_info(fields),
            with_passages(query_rows),
            answer_rows,
            with_default(judgment_rows, "judge", judge),
            _optional_rows(published_ratings, "published_ratings"),
            _optional_rows(attributes, "attributes"),
        )

    @property
    def judges(self) -> tuple[str, ...]:
        """Return who judged, or whose ratings are published, sorted."""
        names = {*self.judgments["judge"].unique(), *self.published_ratings["judge"].unique()}
        return tuple(sorted(names))

    @property
    def criteria(self) -> tuple[str, ...]:
        """Return the criteria of judgments, such as faithfulness, sorted."""
        if CRITERION not in self.judgments:
            return ()
        return tuple(sorted(set(self.judgments[CRITERION].dropna())))

    @property
    def rated_systems(self) -> tuple[str, ...]:
        """Return the systems that are judged or have a published rating, sorted."""
        published = set(self.published_ratings["system"]) & set(self.info.systems)
        judged = {*self.judgments["system_a"].unique(), *self.judgments["system_b"].unique()}
        return tuple(sorted(published | judged))

    @property
    def references(self) -> pd.DataFrame:
        """Return reference answers: ``language, query_id, answer, passages``.

        They are the question's own ``reference``, else the answer of the reference system.
        """
        written = selected_columns(self.queries, QUESTION_KEY, [REFERENCE])
        written = written.dropna(subset=REFERENCE).rename(columns={REFERENCE: "answer"})
        by_system = self.answers[self.answers["system"] == self.info.reference_system]
        by_system = selected_columns(by_system, [*QUESTION_KEY, "answer"], [OWN_PASSAGES])
        # The first of each question is kept, so a written reference goes before the system's.
        references = pd.concat([written, by_system], ignore_index=True)
        references = references.drop_duplicates(QUESTION_KEY, ignore_index=True)
        return references[[*QUESTION_KEY, "answer", OWN_PASSAGES]]

    def counts(self) -> pd.DataFrame:
        """Count ``questions, systems, answers, judgments``; one row per language."""
        sizes = {
            "questions": self.queries["language"].value_counts(),
            "systems": self.answers.groupby("language")["system"].nunique(),
            "answers": self.answers["language"].value_counts(),
            "judgments": self.judgments["language"].value_counts(),
        }
        counts = pd.DataFrame(sizes).reindex(list(self.info.languages)).fillna(0).astype(int)
        return counts.reset_index(names="language")

    def _repr_html_(self) -> str:
        judges = ", ".join(self.judges) or "none"
        summary = f"Systems: {', '.join(self.info.systems)}. Judges: {judges}."
        return notebook_html(f"Arena {self.info.name}", summary, self.counts())

    def __repr__(self) -> str:
        """Show the arena's name and size."""
        return (
            f"<Arena {self.info.name!r}: {count_of(len(self.queries), 'question')} in "
            f"{', '.join(self.info.languages)}, {count_of(len(self.answers), 'answer')} by "
            f"{count_of(len(self.info.systems), 'system')}, "
            f"{count_of(len(self.judgments), 'judgment')}>"
        )

    def select(
        self,
        languages: Collection[str] | None = None,
        systems: Collection[str] | None = None,
        judges: Collection[str] | None = None,
    ) -> Arena:
        """Keep some languages, systems or judges; None keeps all.

        Judgments stay where both systems and the judge do, published ratings of unknown systems
        always.

        Raises:
            UsageError: If one is unknown, or the reference system is left out.
        """
        dropped_languages = dropped_names("language", languages, self.info.languages)
        dropped_systems = dropped_names("system", systems, self.info.systems)
        if self.info.reference_system in dropped_systems:
            raise UsageError(
                f"{self.info.reference_system!r} is the reference; others need its answers: name "
                f"it too ({argument('systems')})"
            )
        dropped = {
            "language": dropped_languages,
            "system": dropped_systems,
            "system_a": dropped_systems,
            "system_b": dropped_systems,
            "judge": dropped_names("judge", judges, self.judges),
        }
        fields = {
            "languages": without_names(self.info.languages, dropped_languages),
            "systems": without_names(self.info.systems, dropped_systems),
        }
        return replace(
            self,
            info=self.info.model_copy(update=fields),
            queries=without_rows(self.queries, dropped),
            answers=without_rows(self.answers, dropped),
            judgments=without_rows(self.judgments, dropped),
            outdated=without_rows(self.outdated, dropped),
            published_ratings=without_rows(self.published_ratings, dropped),
            attributes=without_rows(self.attributes, dropped),
            further={name: without_rows(table, dropped) for name, table in self.further.items()},
        )

    def judged_by(self, judge: str | None = None) -> Arena:
        """Keep the judgments, or published ratings, of one judge, or of several as one.

        Args:
            judge: Its name, ``people``, or several names; by default people where some judged, else
                the only judge.

        Raises:
            UsageError: If there is no judgment or rating, no such judge, or a choice to be made.
        """
        reference = self.chosen_judges()[0] if judge is None else judge
        chosen = judges_named(self.judges, reference)
        dropped = {"judge": set(self.judges).difference(chosen)}
        return replace(
            self,
            judgments=without_rows(self.judgments, dropped),
            outdated=without_rows(self.outdated, dropped),
            published_ratings=without_rows(self.published_ratings, dropped),
        )

    def chosen_judges(self, chosen: str | None = None) -> tuple[str, ...]:
        """Return the judge to rate by, then the other judges."""
        if not self.judges:
            raise UsageError(f"arena {self.info.name!r} has no judgments to learn from")
        return chosen_judges(self.judges, chosen)

    def by_criterion(self, criterion: str | None) -> Arena:
        """Keep the judgments by one criterion (else ``UsageError``); all for None."""
        if criterion is None:
            return self
        if criterion not in self.criteria:
            available = ", ".join(self.criteria) or "none"
            raise UsageError(
                f"no judgment is by {criterion!r} ({argument('criterion')}); there is {available}"
            )
        criteria = {*self.judgments[CRITERION], *self.outdated.get(CRITERION, ())}
        dropped = {CRITERION: criteria - {criterion}}
        return replace(
            self,
            judgments=without_rows(self.judgments, dropped),
            outdated=without_rows(self.outdated, dropped),
            published_ratings=no_published_ratings(),
        )


def checked_arena(
    info: ArenaInfo,
    queries: Rows,
    answers: Rows,
    judgments: Rows | None = None,
    published: Rows | None = None,
    attribute_rows: Rows | None = None,
    further: Mapping[str, Rows] = MappingProxyType({}),
) -> Arena:
    """Build an arena, checking each table and how they agree."""
    queries = with_columns(queries, QUERIES)
    answers = with_columns(answers, ANSWERS)
    judgments = with_columns(judgments or empty_rows(JUDGMENTS), JUDGMENTS)
    # Rows first: the checks between tables need sound keys.
    problems = [
        *row_problems(queries, QUERIES),
        *row_problems(answers, ANSWERS),
        *row_problems(judgments, JUDGMENTS),
    ]
    if problems:
        raise DataError(problems)
    ratings = no_published_ratings()
    rating_problems: list[Problem] = []
    if published is not None:
        ratings, rating_problems = published_ratings(
            published, info.languages, queries.table, judgments.table
        )
    attributes, attribute_problems = system_attributes(attribute_rows, info.systems)
    problems = [
        *table_problems(info, queries, answers, judgments),
        *rating_problems,
        *attribute_problems,
    ]
    for rows in further.values():
        problems += row_problems(rows, FURTHER) or unknown_questions(rows, queries, "row")
    if not problems:
        answers, problems = with_own_passages(answers, queries.table)
    if problems:
        raise DataError(problems)
    typed_answers = typed_table(answers, ANSWERS)
    all_judgments = named_by_criterion(typed_table(judgments, JUDGMENTS))
    current, outdated = without_outdated(all_judgments, typed_answers)
    return Arena(
        info=info,
        queries=typed_table(queries, QUERIES),
        answers=typed_answers,
        judgments=current,
        published_ratings=ratings,
        attributes=attributes,
        further={name: typed_table(rows, FURTHER) for name, rows in further.items()},
        outdated=outdated,
    )


def _checked_info(fields: Mapping[str, object]) -> ArenaInfo:
    unknown = sorted(set(fields) - set(ArenaInfo.model_fields))
    if unknown:
        raise UsageError(f"from_frames has no argument {unknown[0]!r}; see help(Arena.from_frames)")
    try:
        return ArenaInfo.model_validate(fields)
    except ValidationError as error:
        hint = "see help(Arena.from_frames)"
        problems = validation_problems(error, "from_frames", None, lambda _: hint)
        raise DataError(problems) from error


def _optional_rows(table: pd.DataFrame | None, name: str) -> Rows | None:
    return None if table is None else frame_rows(table, name)
