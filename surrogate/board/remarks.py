"""Remarks of a board: pages and commands print no other sentences on it."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pandas as pd

from arena.data.languages import language_name
from arena.data.published import PUBLISHED
from arena.data.wording import (
    Remark,
    Severity,
    all_of,
    count_of,
    first_of,
    percent_of,
    sentence,
    split_names,
)
from arena.quality.families import kinship
from arena.quality.judge_report import FAULTS, GRADES
from arena.statistics.significance import NORMAL_90
from surrogate.board.ranks import NARROW
from surrogate.board.summary import BoardSummary, LanguageSummary, plural_part
from surrogate.board.tables import REMARKS

if TYPE_CHECKING:
    from surrogate.board.board import Board

MOST_NAMED = 5
"""Names that a sentence lists; of more it has the number."""
FEW_VERDICTS = 0.005
"""Share of the verdicts from which on first place does not hang on few of them."""


def board_remarks(board: Board) -> list[Remark]:
    """Return all that a board says, the language as subject."""
    macro = board.summary.macro
    remarks = [*headlines(board), *facts(board), judged_by(board), on_judge(board)]
    remarks += [*_predicted(board), *trust_remarks(board), *judge_tests(board), skipped(board)]
    remarks += [*cautions(board), *conclusions_of_use(board)]
    remarks += [*macro.remarks, *fragile_places(board), *standings(board).values()]
    if len(board.languages) > 1:
        for language in board.languages:
            remarks.extend([*headlines(board, language), *facts(board, language)])
            remarks.extend(cautions(board, language))
    for language in board.languages:
        remarks.extend(limits(board, language))
    return remarks


def in_its_language(remark: Remark) -> str:
    """Return a board's sentence with the name of the language that it is on."""
    if not remark.subject:
        return remark.sentence
    text = remark.sentence
    # A system's name keeps its first letter.
    if not text.startswith(remark.systems):
        text = f"{text[:1].lower()}{text[1:]}"
    return f"In {language_name(remark.subject)}, {text}"


def remark_table(remarks: Sequence[Remark]) -> pd.DataFrame:
    """Return remarks as ``tables.REMARKS``."""
    table = pd.DataFrame(remarks, columns=list(REMARKS.columns))
    texts = [json.dumps(remark.systems, ensure_ascii=False) for remark in remarks]
    return table.assign(systems=texts)


def headline(board: Board) -> str:
    """Return who is first, in a sentence or two."""
    return " ".join(remark.sentence for remark in headlines(board))


def conclusion(board: Board) -> str:
    """Return who is first, who judged, and how well."""
    return f"{headline(board)} {on_judge(board).sentence}"


def headlines(board: Board, language: str = "") -> Iterator[Remark]:
    """Say who is first, in a language or overall."""
    first = _first_place(board, language)
    yield first
    if language:
        return
    if first.name == "first" and len(board.languages) > 1:
        yield _leading_languages(board, first.systems[0])
    yield from _unjudged_languages(board)
    if board.summary.macro.is_unreliable and first.name != "none":
        text = "But ranks rest on an unreliable judge."
        yield Remark("unreliable", "warning", text)


def _first_place(board: Board, language: str) -> Remark:
    table = board.overall
    if language:
        table = board.ratings[board.ratings["language"] == language]
    ranked = table[table["rank"].notna()]
    if ranked.empty:
        return Remark("none", "info", "No system has a rank.", language)
    words = board.summary.words
    best = ranked.iloc[0]
    system = str(best["system"])
    if len(ranked) == 1:
        text = f"{system} is the only system with a rank."
        return Remark("only", "info", text, language, systems=(system,))
    if pd.isna(best["rank_low"]):
        text = words.highest.format(system=system)
        return Remark("highest", "info", text, language, systems=(system,))
    leaders = tuple(map(str, ranked.loc[ranked["rank_low"] == 1, "system"]))
    if len(leaders) > 1:
        count = count_of(len(leaders), "system")
        text = words.shared.format(count=count, systems=_listed(leaders))
        return Remark("shared", "info", text, language, len(leaders), leaders)
    text = words.first.format(system=system, wins=_wins(best, words.compared))
    return Remark("first", "info", text, language, float(best["wins"]), leaders)


def _unjudged_languages(board: Board) -> Iterator[Remark]:
    """Say which languages do not count, for others alone have verdicts."""
    ranked = set(board.ratings.loc[board.ratings["rank"].notna(), "language"])
    unjudged = []
    for language, part in board.summary.languages.items():
        if not part.systems_judged and language not in ranked:
            unjudged.append(language_name(language))
    if unjudged and ranked:
        verb = "does" if len(unjudged) == 1 else "do"
        text = f"{_listed(unjudged)} {verb} not count: {board.summary.judge} judged nothing there."
        yield Remark("unjudged languages", "warning", text, statistic=len(unjudged))


def _listed(names: Sequence[str]) -> str:
    return all_of(names) if len(names) <= MOST_NAMED else first_of(names, MOST_NAMED)


def _wins(row: Any, compared: str) -> str:  # noqa: ANN401 - of overall.csv
    low, high = row["wins_low"], row["wins_high"]
    digits = int(high - low < NARROW)
    wins = percent_of(row["wins"], digits)
    return f"{wins} {compared} ({100 * low:.{digits}f} to {100 * high:.{digits}f})"


def standings(board: Board) -> dict[str, Remark]:
    """Say how often each system wins, and its open places."""
    words = board.summary.words
    n_ranked = int(board.overall["rank"].notna().sum())
    remarks = {}
    for row in board.overall.to_dict("records"):
        system = row["system"]
        columns = ["rank_low", "rank_high"]
        if pd.isna(row["rank"]):
            columns = ["place_low", "place_high"]
        if any(pd.isna(row[name]) for name in ("wins", "wins_low", "wins_high", *columns)):
            continue
        low, high = (int(row[name]) for name in columns)
        places = f"place {low if low == high else f'{low} to {high}'}"
        wins = _wins(row, words.compared)
        if pd.isna(row["rank"]):
            among = f"{places} if it joins the {n_ranked} ranked systems"
            name, text = "outlook", f"{system} is predicted to win {wins}: about {among}."
        else:
            standing = words.standing.format(system=system, wins=wins)
            name, text = "standing", f"{standing}: {places} of {n_ranked}."
        remarks[system] = Remark(name, "info", text, "", float(row["wins"]), (system,))
    return remarks


def _leading_languages(board: Board, system: str) -> Remark:
    ratings = board.ratings[board.ratings["rank"].notna()]
    may_be_first = ratings[ratings["rank_low"] == 1].groupby("language")["system"].agg(list)
    rows = ratings[ratings["system"] == system]
    leads = sorted(rows.loc[rows["rank"] == 1, "language"])
    n_alone = sum(may_be_first.get(language) == [system] for language in leads)
    n_languages = len(board.languages)
    noun = board.summary.parts
    text = f"It leads in {len(leads)} of {n_languages} {noun}, alone in {n_alone or 'none'}."
    if not leads:
        text = f"It leads in none of the {n_languages} {noun}."
    return Remark("leads", "info", text, "", len(leads), (system,))


def facts(board: Board, language: str = "") -> Iterator[Remark]:
    """Count what a board, or one of its languages, rests on."""
    summary = board.summary
    parts = [part for code, part in summary.languages.items() if language in ("", code)]
    ratings = board.ratings
    if language:
        ratings = ratings[ratings["language"] == language]
    counts = {"system": ratings["system"].nunique(), summary.part: len(parts)}
    counts["question"] = sum(part.questions for part in parts)
    counts["comparison"] = sum(part.judgments for part in parts)
    if len(parts) == 1:
        del counts[summary.part]
    for noun, number in counts.items():
        if number:
            text = count_of(number, noun, plural_part(noun))
            yield Remark("count", "info", text, language, number)


def judged_by(board: Board) -> Remark:
    """Say who judged, and whether that is one of the systems, or of the family of some."""
    summary = board.summary
    if summary.is_published:
        return Remark("judged by", "info", f"ratings rest on {_publisher(summary.judge)}")
    judges = split_names(summary.judge.replace("+", ","))
    text = f"judged by {summary.judge}"
    relation, kin = kinship(judges, board.systems)
    if relation:
        text = f"{text}, which {relation}"
    return Remark("judged by", "info", text, "", len(kin), kin)


def on_judge(board: Board) -> Remark:
    """Say how good who judged is."""
    summary = board.summary
    label = summary.macro.judge
    if label is None:
        remark = summary.words.unlabeled
        text = remark.sentence.format(source=_publisher(summary.judge))
        return replace(remark, sentence=text)
    return Remark("judge", label.remark.severity, sentence(label.sentence))


def judge_tests(board: Board) -> Iterator[Remark]:
    """Say what tests found of the judge, faults first, and count failed judgments."""
    label = board.judge_report.label
    if label is None:
        return
    for test in sorted(label.tests, key=lambda test: GRADES.index(test.grade)):
        severity: Severity = "warning" if test.grade in FAULTS else "info"
        text = sentence(test.sentence)
        yield Remark(f"{test.name} test", severity, text, statistic=test.statistic)
    failures = board.judge_report.failures
    if failures is None:
        text = "Failed judgments are not recorded in the arena's folder."
        yield Remark("failures", "info", text)
        return
    n_failed = sum(failures.values())
    reasons = [f"{name} ({count:,})" for name, count in sorted(failures.items())]
    text = f"{count_of(n_failed, 'judgment')} without a verdict"
    if reasons:
        text = f"{text}: {', '.join(reasons)}"
    yield Remark("failures", "info", f"{text}.", statistic=n_failed)


def skipped(board: Board) -> Remark:
    """Count questions without judgments, and ties that the tie rule leaves out."""
    parts = board.summary.languages.values()
    n_unjudged = sum(part.questions - part.questions_judged for part in parts)
    n_ties = sum(part.dropped_ties for part in parts)
    unjudged, ties = count_of(n_unjudged, "question"), count_of(n_ties, "dropped tie")
    return Remark("skipped", "info", f"{unjudged} without judgments, {ties}.", statistic=n_unjudged)


def conclusions_of_use(board: Board) -> list[Remark]:
    """Say what the board's scores mean, where that is no caution."""
    return [remark for remark in board.summary.macro.conclusions if not remark.is_warning]


def limits(board: Board, language: str) -> Iterator[Remark]:
    """Say what limits the numbers of a language, besides its cautions."""
    part = board.summary.languages[language]
    for remark in part.remarks:
        yield replace(remark, sentence=sentence(str(remark)), subject=language)
    if part.interval.limit and not board.summary.macro.is_one_sided:
        yield Remark("interval", "info", sentence(part.interval.limit), language)


def _predicted(board: Board) -> Iterator[Remark]:
    placed = tuple(_predicted_systems(board))
    if placed:
        verb = "system is" if len(placed) == 1 else "systems are"
        text = f"{len(placed)} {verb} predicted, not judged yet."
        yield Remark("predicted", "info", text, "", len(placed), placed)


def _publisher(judge: str) -> str:
    """Say whose published ratings are weighed against the surrogate's."""
    return "published ones" if judge == PUBLISHED else f"those that {judge} published"


def _predicted_systems(board: Board) -> list[str]:
    ratings = board.ratings
    is_unjudged = ratings["split"].eq("unjudged") & ratings["rating"].notna()
    is_predicted = ratings["place"].notna() | is_unjudged
    predicted = set(ratings.loc[is_predicted, "system"])
    return [name for name in board.systems if name in predicted]


def trust_remarks(board: Board) -> Iterator[Remark]:
    """Say how far to trust the board, by people, by what decides it, by its predictions."""
    summary = board.summary
    if not any(part.systems_judged for part in summary.languages.values()):
        return
    yield _agreement_with_people(summary)
    if not summary.macro.is_unreliable:
        yield _first_place_decided(board)
    if _predicted_systems(board):
        yield _predictions_hold(summary)


def _agreement_with_people(summary: BoardSummary) -> Remark:
    label = summary.macro.judge
    if label is not None and label.grade == "people":
        return Remark("people", "good", "Judged by people")
    if label is not None and label.grade == "agrees":
        return Remark("people", "good", "The judge agrees with people")
    if label is not None and label.faults:
        severity: Severity = "error" if label.grade == "unreliable" else "warning"
        return Remark("people", severity, f"The judge is {label.words}")
    return Remark("people", "info", "Agreement with people: not measured")


def _first_place_decided(board: Board) -> Remark:
    n_languages = len(board.languages)
    firsts = [_first_place(board, language) for language in board.languages]
    n_open = sum(first.name != "first" for first in firsts)
    if n_open:
        where = f" in {n_open} of {n_languages} {board.summary.parts}" if n_languages > 1 else ""
        return Remark("open", "warning", f"First place is open{where}", statistic=n_open)
    places = board.judge_report.first_places
    weakest = min(places, key=lambda place: place.share, default=None)
    if weakest is None or weakest.share >= FEW_VERDICTS:
        return Remark("decided", "good", "First place is decided")
    few = f"{weakest.dropped:,} of {count_of(weakest.verdicts, 'verdict')}"
    systems = (weakest.first, weakest.successor)
    text = f"First place depends on {few}"
    return Remark("hangs", "warning", text, weakest.language, weakest.dropped, systems)


def fragile_places(board: Board) -> Iterator[Remark]:
    """Say how few verdicts decide who is first by verdicts alone, the fewest first."""
    # An unreliable judge's first place is in doubt, however many verdicts it rests on.
    if board.summary.macro.is_unreliable:
        return
    has_languages = len(board.languages) > 1
    for place in sorted(board.judge_report.first_places, key=lambda place: place.dropped):
        language = place.language if has_languages else ""
        systems = (place.first, place.successor)
        text = sentence(place.sentence)
        yield Remark("fragile", "info", text, language, place.dropped, systems)


def _predictions_hold(summary: BoardSummary) -> Remark:
    """Say whether the intervals of left-out systems hold, as far as their number can show."""
    expected, least_tolerable = 0.9, 0.745
    tested = [part for part in summary.languages.values() if part.coverage_unseen is not None]
    n_systems = sum(part.systems_judged for part in tested)
    if not n_systems:
        return Remark("untested", "info", "Whether predictions hold is not known")
    n_held = sum((part.coverage_unseen or 0.0) * part.systems_judged for part in tested)
    share = n_held / n_systems
    error = math.sqrt(expected * (1 - expected) / n_systems)
    if share >= expected - NORMAL_90 * error:
        text = f"{share:.0%} of predictions hold, about the 90% that should"
        return Remark("held", "good", text, statistic=share)
    severity: Severity = "warning" if share >= least_tolerable else "error"
    text = f"Predictions are overconfident: {share:.0%} hold, where 90% should"
    return Remark("unheld", severity, text, statistic=share)


def cautions(board: Board, language: str = "") -> Iterator[Remark]:
    """Say what limits a board or language, besides its judge."""
    summary = board.summary
    scores = summary.languages.get(language) if language else summary.macro
    if scores is None or (language and summary.macro.is_one_sided):
        return
    conclusions = scores.conclusions
    if isinstance(scores, LanguageSummary):
        conclusions = summary.conclusions_of(scores)
    numbers = {"unseen": scores.tau_unseen, "gain": scores.gain}
    for conclusion in conclusions:
        name = conclusion.name
        if not conclusion.is_warning or name == "judge":
            continue
        # A caution speaks of systems that exist.
        if name == "unseen" and not _predicted_systems(board):
            continue
        yield replace(conclusion, subject=language, statistic=numbers.get(name))
