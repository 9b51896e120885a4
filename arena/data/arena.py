"""An arena: questions, answers, and judgments or published ratings of them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pandas as pd

from arena.data.errors import UsageError, argument
from arena.data.published import no_published_ratings
from arena.data.schema import (
    ALL,
    CRITERION,
    OWN_PASSAGES,
    QUESTION_KEY,
    REFERENCE,
    ArenaInfo,
    is_derived,
)
from arena.data.systems import no_attributes
from arena.data.wording import PEOPLE, count_of, did_you_mean, first_of, is_person


@dataclass(frozen=True)
class Arena:
    """An arena: questions, the systems' answers, and judgments or published ratings of them.

    Attributes:
        info: Name, languages, systems, reference system.
        queries: Columns ``query_id, language, query, passages``, ``reference`` where there are
            answers to compare with that take no part, and ``history`` where questions are the last
            turns of conversations: a list of ``{role, content}``, or None.
        answers: Columns ``query_id, language, system, answer`` (raw output), and ``passages`` or
            ``history`` where systems had others than the question's: a list as there, or None.
        judgments: Columns ``query_id, language, system_a, system_b, winner, judge``; where a
            ``criterion`` is stated, the judge's name ends in it: ``gpt-4o:fluency``.
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
        *,
        language: str | None = None,
        judge: str | None = None,
        published_ratings: pd.DataFrame | None = None,
        attributes: pd.DataFrame | None = None,
        **info: object,
    ) -> Arena:
        """Make an arena of tables in memory, checked as strictly as a folder is.

        Whole numbers in columns of keys are taken as texts; further columns are kept.

        Args:
            questions: ``query_id, query``, and ``language`` unless it is given for all; may have
                ``passages``: a list of texts, or of ``{passage_id, text, title, relevance}``; and
                ``history``: the turns before, ``[{role, content}, ...]``.
            answers: ``query_id, system, answer``. Where ids of questions are unique, ``language``
                may lack, as in judgments. May have ``passages``: lists of ids, or of records.
            judgments: ``query_id, system_a, system_b, winner`` ("a", "b" or "tie"), and ``judge``
                unless it is given for all.
            language: Language code of rows that name none.
            judge: Judge of rows that name none.
            published_ratings: As ``published_ratings.csv``; see ``arena.data.published``.
            attributes: ``system``, and columns such as ``model``, ``retriever``.
            info: Further fields of ``ArenaInfo``; ``systems`` are those that answer by default.

        Raises:
            UsageError: If something is no DataFrame.
            DataError: With every problem of every table: table, row (as ``iloc``), column, value.
        """
        from arena.data.frames import arena_of_frames

        tables = {"questions": questions, "answers": answers, "judgments": judgments}
        beside = {"published_ratings": published_ratings, "attributes": attributes}
        return arena_of_frames({**tables, **beside}, language, judge, {"name": "arena", **info})

    @property
    def judges(self) -> tuple[str, ...]:
        """Names of those who judged, or whose ratings are published, sorted."""
        tables = (self.judgments, self.published_ratings)
        return tuple(sorted({name for table in tables for name in table["judge"].unique()}))

    @property
    def criteria(self) -> tuple[str, ...]:
        """What judgments were made by, such as faithfulness, sorted; none where none is stated."""
        return tuple(sorted(set(self.judgments.get(CRITERION, pd.Series(dtype=object)).dropna())))

    @property
    def rated_systems(self) -> tuple[str, ...]:
        """Systems of the arena that are judged or have a published rating, sorted."""
        published = set(self.published_ratings["system"]) & set(self.info.systems)
        judged = (self.judgments[side].unique() for side in ("system_a", "system_b"))
        return tuple(sorted(published.union(*judged)))

    @property
    def references(self) -> pd.DataFrame:
        """Answers to compare others with: ``language, query_id, answer``, and their own passages.

        A question's own ``reference`` if it has one, else the answer of the reference system. The
        former is nobody's and takes no part in the arena, the reference system does.
        """
        columns = [*QUESTION_KEY, "answer", OWN_PASSAGES]
        by_system = self.answers[self.answers["system"] == self.info.reference_system]
        own = self.queries.reindex(columns=[*QUESTION_KEY, REFERENCE]).dropna(subset=REFERENCE)
        own = own.rename(columns={REFERENCE: "answer"})
        both = pd.concat([own, by_system.reindex(columns=columns)], ignore_index=True)
        return both.drop_duplicates(QUESTION_KEY, ignore_index=True).reindex(columns=columns)

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

        judges = ", ".join(self.judges) or "none"
        said = f"Systems: {', '.join(self.info.systems)}. Judges: {judges}."
        return notebook_html(f"Arena {self.info.name}", said, self.counts())

    def __repr__(self) -> str:
        """Say how much the arena holds."""
        return (
            f"<Arena {self.info.name!r}: {count_of(len(self.queries), 'question')} in "
            f"{', '.join(self.info.languages)}, {count_of(len(self.answers), 'answer')} by "
            f"{count_of(len(self.info.systems), 'system')}, "
            f"{count_of(len(self.judgments), 'judgment')}>"
        )

    def part(
        self,
        languages: Collection[str] | None = None,
        systems: Collection[str] | None = None,
        judges: Collection[str] | None = None,
    ) -> Arena:
        """Keep some languages, systems or judges, and leave out of every table what is of others.

        Judgments stay where both systems and the judge do. Published ratings of systems that the
        arena does not have stay. None keeps all; the reference system must be kept.

        Raises:
            UsageError: If the arena has no such language, system or judge, or the reference
                system is left out.
        """
        out = {
            "languages": _others("language", languages, self.info.languages),
            "systems": _others("system", systems, self.info.systems),
        }
        if self.info.reference_system in out["systems"]:
            raise UsageError(
                f"{self.info.reference_system!r} is the reference; others need its answers: name "
                f"it too ({argument('systems')})"
            )
        kept = {
            name: tuple(it for it in getattr(self.info, name) if it not in others)
            for name, others in out.items()
        }
        left_out = dict.fromkeys(("system", "system_a", "system_b"), out["systems"])
        left_out |= {"language": out["languages"], "judge": _others("judge", judges, self.judges)}
        tables = {
            name: _without(table, left_out)
            for name, table in vars(self).items()
            if isinstance(table, pd.DataFrame)
        }
        return replace(self, info=self.info.model_copy(update=kept), **tables)

    def judged_by(self, judge: str | None = None) -> Arena:
        """Keep the judgments, or published ratings, of one judge, or of several as one.

        Args:
            judge: Its name, ``people``, or several names; see ``judges_named``. By default the only
                one there is, or people where there are some.

        Raises:
            UsageError: If there is no judgment and no published rating, no such judge, or a
                choice to be made.
        """
        reference = self.chosen_judges()[0] if judge is None else judge
        chosen = judges_named(self.judges, reference)
        others = {"judge": set(self.judges).difference(chosen)}
        judgments, published = (
            _without(table, others) for table in (self.judgments, self.published_ratings)
        )
        return replace(self, judgments=judgments, published_ratings=published)

    def chosen_judges(self, chosen: str | None = None) -> tuple[str, ...]:
        """Return whose verdicts to rate by, then the other judges; see ``chosen_judges``."""
        if not self.judges:
            raise UsageError(f"arena {self.info.name!r} has no judgments to learn from")
        return chosen_judges(self.judges, chosen)

    def by_criterion(self, criterion: str | None) -> Arena:
        """Keep the judgments by one criterion; all for None. ``UsageError`` if there is none."""
        if criterion is None:
            return self
        if criterion not in self.criteria:
            known = ", ".join(self.criteria) or "none"
            raise UsageError(
                f"no judgment is by {criterion!r} ({argument('criterion')}); there is {known}"
            )
        own = self.judgments[self.judgments[CRITERION] == criterion].reset_index(drop=True)
        return replace(self, judgments=own, published_ratings=no_published_ratings())


def chosen_judges(names: Sequence[str], chosen: str | None = None) -> tuple[str, ...]:
    """Return whose verdicts are the reference, as ``judges_named`` takes it, then the other judges.

    The reference is people, all who are chosen as one, or else the judge that is named first.

    Args:
        names: Of all judges.
        chosen: Some of them with commas between, or ``all`` whose verdicts are their own; by
            default all where people are among them, or the only one.

    Raises:
        UsageError: If there is no such judge, or a choice to be made.
    """
    own = [name for name in names if not is_derived(name)]
    people = [name for name in own if is_person(name)]
    if chosen is None and len(names) > 1 and not people:
        raise UsageError(
            f"several judges; choose one with {argument('judge')}, or several with "
            "commas between, or all: "
            f"{first_of(names)}"
        )
    if chosen is None or (chosen == ALL and ALL not in names):
        listed = own or list(names)
    else:
        listed = [chosen] if chosen in names else [name.strip() for name in chosen.split(",")]
    known = set(names)
    found = {name: (name,) if name in known else judges_named(names, name) for name in listed}
    voters = {person for name in found if is_person(name) for person in found[name]}
    first = next(iter(found))
    if voters:
        everyone = len(voters) > 1 and voters == set(people) and PEOPLE not in names
        first = PEOPLE if everyone else "+".join(sorted(voters))
    return (first, *(name for name in found if name != first and not is_person(name)))


def judges_named(names: Sequence[str], judge: str) -> tuple[str, ...]:
    """Return the judges that a name stands for, several of which count as one.

    Args:
        names: Of all judges.
        judge: One of them; ``people``, for all people; or several with ``+`` or commas between.

    Raises:
        UsageError: If there is no such judge.
    """
    people = tuple(name for name in names if is_person(name))
    if judge in names or (judge == PEOPLE and people):
        return (judge,) if judge in names else people
    parts = [part.strip() for part in judge.replace(",", "+").split("+")]
    for name in parts:
        if name not in names:
            hint = f"{did_you_mean(name, names)} the judges are {first_of(names) or 'none'}"
            raise UsageError(f"no judge {name!r} here; {hint.lstrip()}")
    return tuple(parts)


def _others(noun: str, chosen: Collection[str] | None, known: Collection[str]) -> frozenset[str]:
    """Return the names that are known and not chosen; none where there is no choice."""
    if chosen is None:
        return frozenset()
    for name in chosen:
        if name not in known:
            there = f"available: {first_of(tuple(known)) or 'none'}"
            hint = f"{did_you_mean(name, known)} {there}".lstrip()
            raise UsageError(f"no {noun} {name!r} here ({argument(f'{noun}s')}); {hint}")
    return frozenset(known) - frozenset(chosen)


def _without(table: pd.DataFrame, left_out: Mapping[str, Collection[str]]) -> pd.DataFrame:
    """Leave out the rows in whose columns any of these names stands."""
    is_out = np.zeros(len(table), np.bool_)
    for column, names in left_out.items():
        if names and column in table:
            is_out |= table[column].isin(names).to_numpy()
    return (table[~is_out] if is_out.any() else table).reset_index(drop=True)
