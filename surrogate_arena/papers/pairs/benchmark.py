"""Judges of pairs as a benchmark: every pair in both orders."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pandas as pd

from arena.data.errors import UsageError
from arena.data.judges import judges_named
from arena.judging.answer_pairs import PAIR_COLUMNS, ArenaTexts, pair_keys
from arena.llm.prompts import Templates
from surrogate_arena.papers.evaluation import (
    Benchmark,
    Evaluation,
    JudgeFactory,
    Kinds,
    llms_with,
)
from surrogate_arena.papers.judges import Judge
from surrogate_arena.papers.pairs.gold_pairs import GoldPairs
from surrogate_arena.papers.pairs.judges import PAIRWISE, AskedPair, PairPrompts, RecordedJudge
from surrogate_arena.papers.pairs.reader import read_gold_pairs
from surrogate_arena.papers.pairs.scores import pair_report
from surrogate_arena.papers.records import VerdictRecord
from surrogate_arena.papers.reports import Report
from surrogate_arena.papers.settings import MetaevalSettings

RECORDED = "recorded:"
ORDER_COLUMNS = ["split", *PAIR_COLUMNS, "truth"]
"""``truth`` is the side of the better answer."""


class PairLine(VerdictRecord):
    """A line of a file of verdicts."""

    split: str
    language: str
    query_id: str
    system_a: str
    system_b: str
    truth: str
    value: str | None = None


@dataclass(frozen=True)
class PairBenchmark(Benchmark):
    """Pairs of answers with a known better one; each is asked in both orders.

    Verdicts have the columns ``ORDER_COLUMNS`` and ``value``: ``a``, ``b`` or ``tie``.
    """

    record = PairLine
    key = ("split", *PAIR_COLUMNS)
    replaceable = (PAIRWISE,)
    noun = "pairs, each order counted"
    gold: GoldPairs

    @classmethod
    def read(cls, path: Path, settings: MetaevalSettings, templates: Templates) -> PairBenchmark:
        """Read the pairs of a table, or of an arena's folder."""
        gold = read_gold_pairs(path, settings.reference, settings.languages)
        return cls(gold, settings=settings, templates=templates)

    @property
    def kinds(self) -> Kinds:
        """LLMs, and judges whose verdicts the arena holds."""
        return {
            "llm:MODEL": llms_with(PairPrompts(self.templates)),
            f"{RECORDED}JUDGE": self._recorded,
        }

    def _recorded(self, name: str, factory: JudgeFactory) -> list[Judge]:  # noqa: ARG002
        judgments = self.gold.arena.judgments
        names = sorted(set(judgments["judge"]))
        chosen = judges_named(names, name)
        if not set(chosen).isdisjoint(self.gold.reference):
            raise UsageError(f"{name} is the reference, which is right by definition")
        return [RecordedJudge(name, judgments[judgments["judge"].isin(chosen)])]

    @property
    def default_judges(self) -> list[str]:
        """The judges whose verdicts the arena holds."""
        return [RECORDED + name for name in self.gold.recorded_judges]

    @property
    def items(self) -> pd.DataFrame:
        """Every pair in both orders."""
        return self.orders[ORDER_COLUMNS]

    @cached_property
    def orders(self) -> pd.DataFrame:
        """Each pair in both orders: ``ORDER_COLUMNS``, ``question`` and ``pair``."""
        pairs = self.settings.limited(self.gold.pairs, "split")
        pairs = pairs.rename(columns={"better": "truth"}).assign(pair=range(len(pairs)))
        swapped = pairs.assign(
            system_a=pairs["system_b"],
            system_b=pairs["system_a"],
            truth=pairs["truth"].map({"a": "b", "b": "a"}),
        )
        return pd.concat([pairs, swapped]).sort_values("pair", kind="stable", ignore_index=True)

    @cached_property
    def tasks(self) -> list[AskedPair]:
        """Tasks of a judge: every pair in both orders."""
        texts = ArenaTexts(self.gold.arena)
        return [AskedPair(key, texts) for key in pair_keys(self.orders)]

    def report(self, evaluation: Evaluation) -> Report:
        """Report how right and how consistent judges are; see ``pair_report``."""
        orders = self.orders[[*PAIR_COLUMNS, "question", "pair"]]
        verdicts = evaluation.verdicts.merge(orders, on=PAIR_COLUMNS)
        return pair_report(self.gold, verdicts, self.settings, evaluation.usages)
