"""What a board says in words: findings, each made from a kind, systems and numbers.

Pages and commands print no other sentence on a board than these. ``SENTENCES`` has the words of
every kind; the numbers are those of the board's tables, ``summary.json`` and
``judge_report.json``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import pandas as pd

from arena.data.languages import language_name
from arena.data.wording import count_of
from arena.quality.judge_report import FirstPlace
from surrogate.board.summary import PREFERENCES, BoardSummary, LanguageSummary
from surrogate.board.tables import FINDINGS

if TYPE_CHECKING:
    from surrogate.board.board import Board

Level = Literal["", "good", "warning", "bad", "unknown"]
HEADLINES: Mapping[str, str] = {
    "first": "{systems} answers best: "
    "it wins {wins} of its comparisons ({wins_low} to {wins_high}).",
    "shared": "{count} share first place: {systems}.",
    "ahead": "{systems} is ahead of all others.",
    "highest": "{systems} has the highest rating; how sure that is, is not known.",
    "only": "{systems} is the only system with a rank.",
    "none": "No system has a rank.",
    "alike": "The answers of {systems} agree most with those of the others.",
    "liked": "The answers of {systems} have most of what judges of other arenas liked.",
    "unreliable": "But ranks rest on verdicts that cannot be relied on one by one.",
    "leads": "It leads in {leads}, alone in {alone}.",
}
CHIPS: Mapping[str, str] = {
    "people": "{text}",
    "decided": "First place is decided",
    "hangs": "First place hangs on {count}",
    "open": "First place is open{text}",
    "held": "Predictions hold: {held} of 100",
    "unheld": "Predictions are too sure: {held} of 100 hold, where 90 are meant to",
    "untested": "Whether predictions hold is not known",
}
CAUTIONS: Mapping[str, str] = {
    "judge": "{text}.",
    "unseen": "{text}",
    "gain": "{text}",
    "unjudged": "{text}",
}
SENTENCES: Mapping[str, str] = {
    **HEADLINES,
    **CHIPS,
    **CAUTIONS,
    "standing": "{systems} wins {wins} of its comparisons ({wins_low} to {wins_high}): "
    "place {place} of {count}.",
    "outscoring": "The answers of {systems} outscore {wins} of those of other systems "
    "({wins_low} to {wins_high}): place {place} of {count}.",
    "outlook": "{systems} is predicted to win {wins} of its comparisons "
    "({wins_low} to {wins_high}): about place {place} of {count}.",
    "predicted": "{count} predicted, not judged yet.",
    "nobody": "Nobody has judged these answers, and what ranks them does not measure quality.",
    "published": "{text}.",
}
"""Kind of a finding to its words."""
CAUTION_NUMBERS = {"unseen": "tau_unseen", "gain": "gain"}
"""Kind of a caution to the score that it rests on."""
CUT = "\x00"
"""Around names of systems, which never hold it."""
MOST_NAMED = 5
"""Names that a sentence lists; of more it has the number."""
SHARES = ("wins", "wins_low", "wins_high")
NARROW = 0.03
"""Width of an interval of wins below which they are shown with a decimal."""
FEW_VERDICTS = 0.005
"""Share of the verdicts from which on first place does not hang on few of them."""


@dataclass(frozen=True)
class Finding:
    """One thing that a board says.

    Attributes:
        kind: One of ``SENTENCES``.
        language: Code of the language that it is on; empty for the whole board.
        systems: Names of the systems that it is on.
        numbers: What it rests on, by name.
        words: Texts of its sentence.
        level: How good what it says is, if it is good or bad.
    """

    kind: str
    language: str = ""
    systems: tuple[str, ...] = ()
    numbers: Mapping[str, float] = field(default_factory=dict)
    words: Mapping[str, str] = field(default_factory=dict)
    level: Level = ""

    @property
    def sentence(self) -> str:
        """The finding in words."""
        return "".join(self.parts)

    @property
    def parts(self) -> list[str]:
        """The sentence cut at names of systems: texts and names by turns."""
        names = [f"{CUT}{name}{CUT}" for name in self.systems[:MOST_NAMED]]
        listed = _listing(len(self.systems)).format(*names)
        texts = {"systems": listed, **_shown_numbers(self.numbers), **self.words}
        sentence = SENTENCES[self.kind].format(**texts)
        if self.language and self.kind in HEADLINES:
            # A system's name keeps its first letter.
            sentence = f"In {language_name(self.language)}, {sentence[:1].lower()}{sentence[1:]}"
        return sentence.split(CUT)

    @property
    def record(self) -> dict[str, Any]:
        """The finding as plain values."""
        return {
            "language": self.language,
            "kind": self.kind,
            "systems": list(self.systems),
            "numbers": dict(self.numbers),
            "level": self.level,
            "sentence": self.sentence,
        }


def _listing(count: int) -> str:
    """Return the format of a list of names, such as ``{}, {} and 2 more``."""
    if count > MOST_NAMED:
        return ", ".join(["{}"] * MOST_NAMED) + f" and {count - MOST_NAMED} more"
    names = ["{}"] * count
    return " and ".join([", ".join(names[:-1]), names[-1]]) if count > 1 else "".join(names)


def _shown_numbers(numbers: Mapping[str, float]) -> dict[str, str]:
    """Show shares in percent, with a decimal where their interval is narrow."""
    if "wins" not in numbers:
        return {}
    digits = int(numbers["wins_high"] - numbers["wins_low"] < NARROW)
    shown = {name: f"{100 * numbers[name]:.{digits}f}" for name in SHARES}
    return {**shown, "wins": f"{shown['wins']}%"}


def board_findings(board: Board) -> list[Finding]:
    """Return all that a board says: who is first, overall and by language, and what limits it."""
    findings = [*_headlines(board), *_judging(board), *_chips(board), *_cautions(board, "")]
    findings.extend(standings_of(board).values())
    if len(board.languages) > 1:
        for language in board.languages:
            findings.append(_first_place(board, language))
            findings.extend(_cautions(board, language))
    return findings


def standings_of(board: Board) -> dict[str, Finding]:
    """Say how often each system wins, and which places that leaves open, if that is known."""
    n_ranked = int(board.overall["rank"].notna().sum())
    standings = {}
    for row in board.overall.to_dict("records"):
        kind = "outscoring" if board.summary.is_first else "standing"
        columns = ("rank_low", "rank_high")
        if pd.isna(row["rank"]):
            kind, columns = "outlook", ("place_low", "place_high")
        if any(pd.isna(row[name]) for name in (*SHARES, *columns)):
            continue
        low, high = (int(row[name]) for name in columns)
        numbers: dict[str, float] = {name: float(row[name]) for name in SHARES}
        numbers |= {columns[0]: low, columns[1]: high, "systems": n_ranked}
        place = str(low) if low == high else f"{low} to {high}"
        words = {"place": place, "count": str(n_ranked)}
        standings[row["system"]] = Finding(kind, "", (row["system"],), numbers, words)
    return standings


def finding_table(findings: Sequence[Finding]) -> pd.DataFrame:
    """Return findings as ``tables.FINDINGS``."""
    table = pd.DataFrame([finding.record for finding in findings], columns=list(FINDINGS.columns))
    written = partial(json.dumps, ensure_ascii=False)
    texts = {name: table[name].map(written) for name in ("systems", "numbers")}
    return table.assign(**texts)


def _headlines(board: Board) -> Iterator[Finding]:
    first = _first_place(board, "")
    yield first
    if first.kind == "first" and len(board.languages) > 1:
        yield _leading_languages(board, first.systems[0])
    if board.summary.macro.is_unreliable and first.kind != "none":
        yield Finding("unreliable")


def _first_place(board: Board, language: str) -> Finding:
    """Say who is first, in a language or overall."""
    table = board.overall
    if language:
        table = board.ratings[board.ratings["language"] == language]
    ranked = table[table["rank"].notna()]
    if ranked.empty:
        return Finding("none", language)
    leaders = tuple(ranked.loc[ranked["rank"] == ranked["rank"].min(), "system"])
    summary = board.summary
    if summary.is_first:
        evidence = [part.evidence for part in summary.languages.values()]
        is_liked = any(PREFERENCES in names for names in evidence)
        return Finding("liked" if is_liked else "alike", language, leaders)
    return first_place_of(ranked, language)


def headline(board: Board) -> str:
    """Return who is first, in a sentence or two."""
    return " ".join(finding.sentence for finding in _headlines(board))


def conclusion(board: Board) -> str:
    """Return who is first, who judged, and how good the judge is known to be."""
    judging = next(_judging(board))
    return f"{headline(board)} {judging.sentence}"


def first_place_of(ranked: pd.DataFrame, language: str = "", kind: str = "first") -> Finding:
    """Say who is first of ranked systems, best first: columns ``system, rank, rank_low``.

    Of the kind ``first`` also ``wins, wins_low, wins_high``.
    """
    best = ranked.iloc[0]
    if len(ranked) == 1:
        return Finding("only", language, (str(best["system"]),))
    if pd.isna(best["rank_low"]):
        return Finding("highest", language, (str(best["system"]),))
    leaders = tuple(map(str, ranked.loc[ranked["rank_low"] == 1, "system"]))
    if len(leaders) > 1:
        words = {"count": count_of(len(leaders), "system")}
        return Finding("shared", language, leaders, {"systems": len(leaders)}, words)
    numbers = {name: float(best[name]) for name in SHARES if kind == "first"}
    return Finding(kind, language, leaders, numbers)


def _leading_languages(board: Board, system: str) -> Finding:
    """Say in how many languages the first system leads, and where alone."""
    ratings = board.ratings[board.ratings["rank"].notna()]
    may_be_first = ratings[ratings["rank_low"] == 1].groupby("language")["system"].agg(list)
    rows = ratings[ratings["system"] == system]
    leads = sorted(rows.loc[rows["rank"] == 1, "language"])
    alone = [language for language in leads if may_be_first.get(language) == [system]]
    parts = len(board.languages)
    numbers = {"leads": len(leads), "alone": len(alone), "languages": parts}
    noun = board.summary.parts
    words = {
        "leads": f"{'both' if parts == 2 else f'all {parts}'} {noun}"
        if len(leads) == parts
        else f"{len(leads)} of {parts} {noun}",
        "alone": _alone(alone, len(leads)),
    }
    return Finding("leads", systems=(system,), numbers=numbers, words=words)


def _alone(languages: Sequence[str], n_leads: int) -> str:
    if len(languages) == n_leads:
        return "each of them"
    if not languages:
        return "none of them"
    if len(languages) > MOST_NAMED:
        return f"{len(languages)} of them"
    return _listing(len(languages)).format(*map(language_name, languages))


def _judging(board: Board) -> Iterator[Finding]:
    """Say who judged, how well, and of how many systems nobody did."""
    summary = board.summary
    label = summary.macro.judge
    if summary.is_first:
        yield Finding("nobody")
    elif label is None:
        yield Finding("published", words={"text": published_sentence(summary.judge)})
    else:
        level: Level = "warning" if label.faults else ""
        yield Finding("judge", words={"text": label.sentence}, level=level)
    placed = _predicted_systems(board)
    if placed:
        verb = "system is" if len(placed) == 1 else "systems are"
        words = {"count": f"{len(placed)} {verb}"}
        yield Finding("predicted", "", tuple(placed), {"systems": len(placed)}, words)


def published_sentence(judge: str) -> str:
    """Say whose ratings were published, without the full stop.

    The board's ratings are not these: it weighs each by its error against the surrogate's.
    """
    from arena.data.published import PUBLISHED

    whose = "published ones" if judge == PUBLISHED else f"those that {judge} published"
    return f"Ratings rest on {whose}"


def _predicted_systems(board: Board) -> list[str]:
    """Return the systems that have a place, or a rating without any verdict, in some language."""
    ratings = board.ratings
    is_unjudged = ratings["split"].eq("unjudged") & ratings["rating"].notna()
    is_predicted = ratings["place"].notna() | is_unjudged
    return [name for name in board.systems if name in set(ratings.loc[is_predicted, "system"])]


def _chips(board: Board) -> Iterator[Finding]:
    """Say how far to trust the board: by people, by how much decides it, by its predictions."""
    summary = board.summary
    if summary.is_first:
        return
    yield _people(summary)
    if not summary.macro.is_unreliable:
        yield from _decided(board)
    if _predicted_systems(board):
        yield _held(summary)


def _people(summary: BoardSummary) -> Finding:
    label = summary.macro.judge
    text = "Agreement with people: not measured"
    level: Level = "unknown"
    if label is not None and label.grade == "people":
        text, level = "Judged by people", "good"
    elif label is not None and label.grade == "agrees":
        text, level = "The judge agrees with people", "good"
    elif label is not None and label.faults:
        text = f"The judge is {label.words}"
        level = "bad" if label.grade == "unreliable" else "warning"
    return Finding("people", words={"text": text}, level=level)


def _decided(board: Board) -> Iterator[Finding]:
    """Say whether first place is one system's, and how few verdicts would change that."""
    firsts = {language: _first_place(board, language) for language in board.languages}
    n_open = sum(first.kind != "first" for first in firsts.values())
    n_languages = len(firsts)
    if n_open:
        text = f" in {n_open} of {n_languages} {board.summary.parts}" if n_languages > 1 else ""
        numbers = {"open": n_open, "languages": n_languages}
        yield Finding("open", numbers=numbers, words={"text": text}, level="warning")
        return
    places = board.judge_report.first_places
    weakest = min(places, key=lambda place: place.share, default=None)
    if weakest is None or weakest.share >= FEW_VERDICTS:
        yield Finding("decided", level="good")
        return
    yield _hanging(weakest)


def _hanging(place: FirstPlace) -> Finding:
    numbers = {"dropped": place.dropped, "verdicts": place.verdicts}
    words = {"count": f"{place.dropped:,} of {count_of(place.verdicts, 'verdict')}"}
    systems = (place.first, place.successor)
    return Finding("hangs", place.language, systems, numbers, words, "warning")


def _held(summary: BoardSummary) -> Finding:
    """Say how many intervals of predictions hold, in the language where fewest do."""
    least_good, least_tolerable = 0.855, 0.745
    shares = [part.coverage_unseen for part in summary.languages.values()]
    known = [share for share in shares if share is not None]
    if not known:
        return Finding("untested", level="unknown")
    worst = min(known)
    level: Level = "bad"
    if worst >= least_tolerable:
        level = "good" if worst >= least_good else "warning"
    kind = "held" if level == "good" else "unheld"
    words = {"held": f"{100 * worst:.0f}"}
    return Finding(kind, numbers={"coverage_unseen": worst}, words=words, level=level)


def _cautions(board: Board, language: str) -> Iterator[Finding]:
    """Say what limits the board, or a language of it, but for its judge's fault."""
    summary = board.summary
    scores = summary.languages.get(language) if language else summary.macro
    if scores is None or (language and summary.macro.is_one_sided):
        return
    has_predictions = bool(_predicted_systems(board))
    conclusions = scores.conclusions
    if isinstance(scores, LanguageSummary):
        conclusions = summary.conclusions_of(scores)
    for conclusion in conclusions:
        kind = conclusion.name
        if not conclusion.is_warning or kind == "judge":
            continue
        # A caution speaks of systems that exist.
        if kind == "unseen" and not has_predictions:
            continue
        score = CAUTION_NUMBERS.get(kind, "")
        value = getattr(scores, score, None)
        numbers = {} if value is None else {score: value}
        words = {"text": conclusion.sentence}
        yield Finding(kind, language, (), numbers, words, "warning")
