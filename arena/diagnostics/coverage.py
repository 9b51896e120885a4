"""How much was judged: judgments, questions, pairs that met and pairs that did not."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import pandas as pd

from arena.adapters.judgments import ANONYMOUS_JUDGE
from arena.data.schema import ANSWER_KEY, QUESTION_KEY
from arena.data.tables.names import alike
from arena.data.wording import count_of
from arena.diagnostics.finding import Finding, Severity, listed, subject_of
from arena.diagnostics.systems import NEVER_JUDGED
from arena.diagnostics.verdicts import GROUP, groups_of, share, sums, won_by_a

FEW_QUESTIONS = 10
"""With fewer questions, a bootstrap over questions says little."""

FEW_BATTLES = 10
"""With fewer battles a system, a single verdict can move its rank."""

MANY_TIES = 0.5


def repeat_findings(table: pd.DataFrame) -> Iterator[Finding]:
    """Say which judgments repeat others: whole copies count once, see ``copies_of_others``.

    Args:
        table: As ``verdicts`` returns it.
    """
    asked = [*GROUP, "rater", "query_id", "first", "second", "first_on_a"]
    repeats = table[table.duplicated(asked)]
    equal = table.duplicated([*asked, "outcome"])
    for (language, judge), rows in repeats.groupby(GROUP, sort=True):
        severity: Severity = "info" if (rows["rater"] == ANONYMOUS_JUDGE).all() else "warning"
        same = int(equal[rows.index].sum())
        sentence = f"{count_of(len(rows), 'judgment')} of the same question, sides and judge as "
        sentence += (
            "others, all with the same verdict, as of a file that was joined twice: each verdict "
            "counts once"
            if same == len(rows)
            else f"others, {same:,} with the same verdict and {len(rows) - same:,} with another: "
            "this judge was asked more than once, and each judgment counts"
        )
        yield Finding(severity, "copies", subject_of(language, judge), sentence)


def name_findings(systems: Iterable[str]) -> Iterator[Finding]:
    """Say which names of systems look like another's."""
    for first, name in alike(systems):
        sentence = f"the names {first!a} and {name!a} look alike, and are of two systems"
        yield Finding("warning", "names", "systems", sentence)


def overview_table(
    table: pd.DataFrame, systems: pd.DataFrame, queries: pd.DataFrame | None = None
) -> pd.DataFrame:
    """Count judgments, questions and systems.

    Args:
        table: As ``verdicts`` returns it.
        systems: As ``systems_table`` returns it.
        queries: Query table of the arena, if there is one.

    Returns:
        Columns ``language, judge, judgments, wins_a, wins_b, ties, tie_share, systems,
        never_judged, questions, questions_asked`` (missing without queries) and, over judged
        systems, ``questions_min, questions_median, questions_max, battles_median``.
    """
    groups = groups_of(table)
    side = won_by_a(table)
    marks = {"judgments": 1, "wins_a": side == 1, "wins_b": side == -1, "ties": side == 0}
    counts = sums(table, groups, marks)
    judged = systems[systems["judgments"] > 0]
    questions = table[[*GROUP, "query_id"]].drop_duplicates()
    per_system = judged.groupby(GROUP).agg(
        questions_min=("questions", "min"),
        questions_median=("questions", "median"),
        questions_max=("questions", "max"),
        battles_median=("judgments", "median"),
    )
    return counts.assign(
        tie_share=share(counts["ties"], counts["judgments"]),
        systems=sums(judged, groups, {"n": 1})["n"],
        never_judged=sums(systems, groups, {"n": systems["judgments"] == 0})["n"],
        questions=sums(questions, groups, {"n": 1})["n"],
        questions_asked=_asked(groups, queries),
    ).merge(per_system.reset_index(), on=GROUP)


def _asked(groups: pd.DataFrame, queries: pd.DataFrame | None) -> pd.Series:
    if queries is None:
        return pd.Series(pd.NA, index=groups.index, dtype="Int64")
    return groups["language"].map(queries["language"].value_counts()).fillna(0).astype("Int64")


def coverage_table(pairs: pd.DataFrame, systems: pd.DataFrame) -> pd.DataFrame:
    """Count how often the pairs of judged systems met.

    Args:
        pairs: As ``pairs_table`` returns it.
        systems: As ``systems_table`` returns it.

    Returns:
        Columns ``language, judge, pairs, met, never_met`` and, over pairs that met,
        ``battles_min, battles_median, battles_max``.
    """
    groups = groups_of(pairs)
    judged = sums(systems[systems["judgments"] > 0], groups, {"n": 1})["n"]
    met = pairs.groupby(GROUP).agg(
        met=("battles", "size"),
        battles_min=("battles", "min"),
        battles_median=("battles", "median"),
        battles_max=("battles", "max"),
    )
    table = groups.assign(pairs=judged * (judged - 1) // 2).merge(met.reset_index(), on=GROUP)
    table.insert(4, "never_met", table["pairs"] - table["met"])
    return table


def overview_findings(overview: pd.DataFrame, systems: pd.DataFrame) -> Iterator[Finding]:
    """Say where there is little to rank by."""
    unjudged = systems[systems["note"] == NEVER_JUDGED].groupby(GROUP)["system"].agg(list)
    for row in overview.itertuples():
        subject = subject_of(row.language, row.judge)
        yield Finding("info", "amount", subject, _amount(row))
        if row.questions < FEW_QUESTIONS:
            sentence = f"only {count_of(row.questions, 'question')} judged; intervals will be rough"
            yield Finding("warning", "questions", subject, sentence)
        if row.battles_median < FEW_BATTLES:
            yield Finding("warning", "battles", subject, _thin(row.battles_median))
        if row.tie_share >= MANY_TIES:
            sentence = (
                f"{row.tie_share:.0%} of the judgments are ties; few verdicts tell systems apart"
            )
            yield Finding("warning", "ties", subject, sentence)
        if row.never_judged:
            names = listed(unjudged[(row.language, row.judge)])
            sentence = f"{count_of(row.never_judged, 'declared system')} never judged: {names}"
            yield Finding("warning", "never judged", subject, sentence)


def _amount(row: object) -> str:
    judgments = count_of(row.judgments, "judgment")  # type: ignore[attr-defined]
    systems = count_of(row.systems, "system")  # type: ignore[attr-defined]
    questions = count_of(row.questions, "question")  # type: ignore[attr-defined]
    return f"{judgments} of {systems} on {questions}"


def _thin(battles: float) -> str:
    return f"half of the systems have at most {battles:g} battles; one verdict can move a rank"


def coverage_findings(coverage: pd.DataFrame) -> Iterator[Finding]:
    """Say where pairs of systems never met."""
    for row in coverage[coverage["never_met"] > 0].itertuples():
        sentence = (
            f"{row.never_met:,} of {count_of(row.pairs, 'pair')} of systems never met; "
            "their order rests on the others"
        )
        yield Finding("info", "pairs", subject_of(row.language, row.judge), sentence)


def unjudged_languages(declared: Sequence[str], overview: pd.DataFrame) -> Iterator[Finding]:
    """Say which declared languages hold no judgment at all."""
    judged = np.unique(overview["language"].astype(str))
    for language in sorted(set(declared) - set(judged)):
        sentence = "declared, but without judgments; no system can be ranked there"
        yield Finding("error", "no judgments", language, sentence)


def published_findings(published: pd.DataFrame, answers: pd.DataFrame) -> Iterator[Finding]:
    """Say whose ratings are published, and which do not belong to answers.

    Args:
        published: Columns ``judge, language, system, rating, standard_error``.
        answers: Columns ``language, system``.
    """
    answering = {str(code): set(rows["system"]) for code, rows in answers.groupby("language")}
    for (language, judge), rows in published.groupby(["language", "judge"]):
        subject, own = subject_of(language, judge), answering.get(language, set())
        rated, errors = set(rows["system"]), int(rows["standard_error"].notna().sum())
        sentence = f"{count_of(len(rated), 'rating')} are published, {errors} with a standard error"
        yield Finding("info", "published", subject, sentence)
        if rated - own:
            absent = count_of(len(rated - own), "published rating")
            sentence = f"{absent} of systems without answers here: nothing is learned from them"
            yield Finding("warning", "published", subject, sentence)
        if own - rated:
            unrated = count_of(len(own - rated), "system")
            sentence = f"{unrated} of {len(own)} that answered have no published rating"
            yield Finding("warning", "published", subject, sentence)


def answers_table(table: pd.DataFrame, answers: pd.DataFrame) -> pd.DataFrame:
    """Hold judgments against the answers they are about.

    Args:
        table: As ``verdicts`` returns it.
        answers: Columns ``query_id, language, system``.

    Returns:
        Columns ``language, judge, answers, not_judged`` (answers in no judgment) and
        ``judgments_without_answer`` (one or both systems gave no answer to that question).
    """
    groups = groups_of(table)
    known = pd.MultiIndex.from_frame(answers[ANSWER_KEY])
    absent = ~(_judged(table, "first").isin(known) & _judged(table, "second").isin(known))
    counts = sums(table, groups, {"judgments_without_answer": absent})
    in_language = groups["language"].map(answers["language"].value_counts()).fillna(0).astype(int)
    seen = _seen(table)
    given = seen[pd.MultiIndex.from_frame(seen[ANSWER_KEY]).isin(known)]
    counts.insert(2, "answers", in_language)
    counts.insert(3, "not_judged", in_language - sums(given, groups, {"n": 1})["n"])
    return counts


def _judged(table: pd.DataFrame, side: str) -> pd.MultiIndex:
    return pd.MultiIndex.from_frame(table[[*QUESTION_KEY, side]], names=ANSWER_KEY)


def _seen(table: pd.DataFrame) -> pd.DataFrame:
    sides = [
        table[[*GROUP, "query_id", side]].rename(columns={side: "system"})
        for side in ("first", "second")
    ]
    return pd.concat(sides).drop_duplicates()


def answer_findings(absent: pd.DataFrame) -> Iterator[Finding]:
    """Say which answers and judgments do not meet."""
    for row in absent.itertuples():
        subject = subject_of(row.language, row.judge)
        if row.judgments_without_answer:
            sentence = (
                f"{count_of(row.judgments_without_answer, 'judgment')} of a system that gave no "
                "answer to that question"
            )
            yield Finding("warning", "absent answers", subject, sentence)
        if row.not_judged:
            sentence = f"{row.not_judged:,} of {row.answers:,} answers are in no judgment"
            yield Finding("info", "answers not judged", subject, sentence)
