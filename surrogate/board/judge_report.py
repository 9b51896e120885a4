"""``judge_report.json``: how far the judge whose verdicts a board learns from can be trusted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import pandas as pd
from pydantic import BaseModel, ConfigDict

from arena.data.append import FAILED_JUDGMENTS
from arena.data.arena import Arena
from arena.data.errors import ArenaError, UsageError
from arena.data.rows import read_rows
from arena.diagnostics import Diagnosis
from arena.diagnostics.judge_agreement import agreement_table
from arena.diagnostics.verdicts import QUESTION_PAIR, verdicts
from arena.statistics.significance import wilson_interval
from surrogate.board.metaevaluations import (
    FILE_NAME,
    MetaEvaluation,
    is_same_judge,
    read_metaevaluations,
)
from surrogate.board.settings import NOBODY
from surrogate.board.summary import Number

STORE_FILE = "judging.sqlite"
IN_MEMORY = "the board was built of an arena in memory, not of a folder"
NO_FAILED_JUDGMENTS = f"the arena's folder has no {FAILED_JUDGMENTS}"
NO_STORE = f"the arena's folder has no store of replies ({STORE_FILE})"
ONE_ORDER = "no pair was judged in both orders"
ALL_TIES = "every judgment is a tie"
NO_VERDICTS = "nobody has judged"
ONLY_RATINGS = "ratings are published, without judgments"
ALL_LANGUAGES = "all languages"
MOST_JUDGES = 20
"""Judges compared with a board's own: those that share the most items with it."""


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True)


class JudgeAgreement(_Part):
    """Cohen's kappa with another judge over all languages, with a 95% bootstrap interval.

    ``items`` are the questions and pairs that both judged.
    """

    judge: str
    items: int
    kappa: Number
    low: Number
    high: Number


class JudgingRecords(_Part):
    """What is known of a judge beside its judgments.

    Attributes:
        metaevaluations: How it did against human labels.
        failures: Reason to the number of pairs it gave no verdict on; null where not known.
        calls: Calls of the model of its name; null where not known.
        prompt_tokens: Tokens of its prompts.
        completion_tokens: Tokens of its replies.
        unknown: Why something is not known: ``failures``, ``usage``, to the reason.
    """

    metaevaluations: tuple[MetaEvaluation, ...] = ()
    failures: dict[str, int] | None = None
    calls: int | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    unknown: dict[str, str] = {"failures": IN_MEMORY, "usage": IN_MEMORY}


class JudgeReport(JudgingRecords):
    """What is known of a judge.

    Attributes:
        judge: Its name.
        judgments: Its judgments in the arena.
        systems: Systems it judged.
        languages: Languages it judged in.
        both_orders: Questions and pairs judged in both orders.
        flipped: Those whose winner changed with the order.
        decided: Judgments that are no tie.
        first_wins: Decided judgments won by the answer shown first.
        first_low: Lower bound of the 95% Wilson interval of their share.
        first_high: Upper bound.
        length_preference: What is said of longer answers, by language.
        agreement: Agreement with the other judges of the arena.
    """

    judge: str
    judgments: int = 0
    systems: int = 0
    languages: tuple[str, ...] = ()
    both_orders: int = 0
    flipped: int = 0
    decided: int = 0
    first_wins: int = 0
    first_low: Number = None
    first_high: Number = None
    length_preference: dict[str, str] = {}
    agreement: tuple[JudgeAgreement, ...] = ()

    @property
    def flip_rate(self) -> float | None:
        """Share of the pairs judged in both orders whose winner changed; None without any."""
        return self.flipped / self.both_orders if self.both_orders else None

    @property
    def first_share(self) -> float | None:
        """Share of the decided judgments won by the answer shown first; None without any."""
        return self.first_wins / self.decided if self.decided else None


def read_judging_records(
    folder: Path | str, judge: str, further: Iterable[Path | str] = ()
) -> JudgingRecords:
    """Read what an arena's folder knows of a judge.

    Args:
        folder: Arena folder.
        judge: Its name in the ``judge`` column of judgments. A meta-evaluation belongs to it if
            its judge has the same name, or the same after ``llm:``.
        further: Other meta-evaluations: files ``metaevaluation.json``, or folders that hold one.

    Raises:
        UsageError: If one of ``further`` is not there.
        DataError: If a file is damaged.
    """
    folder = Path(folder)
    places = [folder, *(_folder_of(Path(place)) for place in further)]
    entries = [entry for place in places for entry in read_metaevaluations(place)]
    own = {entry.model_dump_json(): entry for entry in entries if is_same_judge(entry.judge, judge)}
    ordered = sorted(own, key=lambda text: (str(own[text]), text))
    failures = _failures(folder / FAILED_JUDGMENTS, judge)
    calls, why = _usage(folder / STORE_FILE, judge)
    unknown = {"failures": "" if failures is not None else NO_FAILED_JUDGMENTS, "usage": why}
    return JudgingRecords(
        metaevaluations=tuple(own[text] for text in ordered),
        failures=failures,
        unknown={name: reason for name, reason in unknown.items() if reason},
        **calls,
    )


def _folder_of(place: Path) -> Path:
    folder = place.parent if place.name == FILE_NAME else place
    if (folder / FILE_NAME).is_file():
        return folder
    raise UsageError(
        f"there is no meta-evaluation at {place}: name a {FILE_NAME}, or a folder that holds one; "
        "surrogate-arena metaeval … --arena FOLDER writes it"
    )


def _failures(path: Path, judge: str) -> dict[str, int] | None:
    if not path.is_file():
        return None
    table = read_rows(path).table.reindex(columns=["judge", "reason"])
    own = table.loc[table["judge"] == judge, "reason"].astype(str)
    return {reason: int(count) for reason, count in sorted(own.value_counts().items())}


def _usage(path: Path, judge: str) -> tuple[dict[str, int], str]:
    """Sum up the calls to the model of the judge's name, whatever they were for, or say why not."""
    if not path.is_file():
        return {}, NO_STORE
    from arena.llm import open_store

    try:
        with open_store(path) as store:
            table = store.stats()
    except ArenaError as error:
        return {}, f"{STORE_FILE} cannot be read: {error}"
    own = table[table["model"] == judge]
    if own.empty:
        return {}, f"{STORE_FILE} holds no call to a model of the judge's name"
    sums = own[["tries", "tokens_in", "tokens_out"]].fillna(0).sum().astype(int)
    names = ("calls", "prompt_tokens", "completion_tokens")
    return dict(zip(names, sums.tolist(), strict=True)), ""


def report_judge(
    arena: Arena,
    judge: str,
    diagnoses: Mapping[str, Diagnosis],
    records: JudgingRecords,
    seed: int = 0,
) -> JudgeReport:
    """Sum up what is known of a judge.

    Args:
        arena: The arena, with the judgments of all judges.
        judge: The judge.
        diagnoses: Diagnosis of its judgments in each language.
        records: What is known of it beside its judgments.
        seed: Seed of the bootstrap.
    """
    own = arena.judged_by(judge)
    orders, sides = (
        pd.concat([pd.DataFrame(), *(getattr(item, name) for item in diagnoses.values())])
        for name in ("order_consistency", "position")
    )
    items, flipped = (
        (int(orders[name].sum()) for name in ("items", "flipped")) if len(orders) else (0, 0)
    )
    decided, first = (
        (int(sides[name].sum()) for name in ("decided", "won_by_a")) if len(sides) else (0, 0)
    )
    low, high = wilson_interval([first], [decided]) if decided else ([None], [None])
    unknown = {
        "flips": "" if items else ONE_ORDER if diagnoses else ONLY_RATINGS,
        "sides": "" if decided else ALL_TIES if diagnoses else ONLY_RATINGS,
    }
    return JudgeReport(
        **records.model_dump(exclude={"unknown"}),
        unknown=records.unknown | {name: why for name, why in unknown.items() if why},
        judge=judge,
        judgments=len(own.judgments),
        systems=len(own.rated_systems),
        languages=tuple(sorted({*own.judgments["language"], *own.published_ratings["language"]})),
        both_orders=items,
        flipped=flipped,
        decided=decided,
        first_wins=first,
        first_low=low[0],
        first_high=high[0],
        length_preference={
            language: finding.sentence
            for language, diagnosis in diagnoses.items()
            for finding in diagnosis.findings
            if finding.check == "length"
        },
        agreement=_agreement(arena.judgments, judge, seed),
    )


def no_judge() -> JudgeReport:
    """Report that nobody judged."""
    kinds = ("flips", "sides", "failures", "usage")
    return JudgeReport(judge=NOBODY, unknown=dict.fromkeys(kinds, NO_VERDICTS))


def _agreement(judgments: pd.DataFrame, judge: str, seed: int) -> tuple[JudgeAgreement, ...]:
    """Compare the judge with every other one on the items both judged, languages together."""
    if judge not in set(judgments["judge"]):
        return ()
    table = verdicts(judgments)
    items = table[[*QUESTION_PAIR, "judge"]].drop_duplicates()
    own = items.loc[items["judge"] == judge, QUESTION_PAIR]
    shared = items[items["judge"] != judge].merge(own, on=QUESTION_PAIR)["judge"].value_counts()
    others = sorted(shared.items(), key=lambda item: (-item[1], str(item[0])))[:MOST_JUDGES]
    whole = table.assign(
        language=ALL_LANGUAGES, query_id=table["language"] + "\x1f" + table["query_id"]
    )
    found = []
    for other, _ in others:
        row = agreement_table(whole[whole["judge"].isin([judge, other])], seed).iloc[0]
        kappas = {name: float(row[name]) for name in ("kappa", "low", "high")}
        found.append(JudgeAgreement(judge=str(other), items=int(row["items"]), **kappas))
    return tuple(found)
