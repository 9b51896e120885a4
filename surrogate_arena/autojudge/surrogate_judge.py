"""The judge that ``auto-judge run`` calls: reports become an arena, its board a leaderboard."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from arena.data.arena import Arena
from arena.judging import JudgingSettings, judge
from arena.judging.judging_result import require_verdicts
from arena.llm.llm_settings import OPENAI_URL
from surrogate.board.build import build_board
from surrogate_arena.diagnosis.judging_prior import judging_prior
from surrogate_arena.importers import import_arena

if TYPE_CHECKING:
    from autojudge_base import Leaderboard, LlmConfigBase, Qrels, Report, Request

REPLIES = "replies.sqlite"
"""Store of the LLM's replies, beside the leaderboard."""
MEASURES = {
    "RATING": "Rating by answers and verdicts",
    "WINS": "Expected share of pairs that the run wins against the others",
}
"""Measures of the leaderboard; columns of a board in capitals."""


class SurrogateJudge:
    """Ranks runs by a surrogate, with the verdicts of an LLM on few pairs or with none.

    A run has one rating, so that a measure has the same value for all of its topics. Nuggets are
    not used; grades of documents (qrels) say which passages are relevant.

    Examples:
        A ``workflow.yml`` for ``auto-judge run``, with up to 200 calls of the model in
        ``OPENAI_MODEL``::

            judge_class: "surrogate_arena.autojudge:SurrogateJudge"
            judge_uses_nuggets: false
            judge_uses_qrels: false
            qrels_uses_nuggets: false
            settings: {filebase: surrogate, budget: 200}
    """

    def judge(
        self,
        rag_responses: Iterable[Report],
        rag_topics: Sequence[Request],
        llm_config: LlmConfigBase,
        qrels: Qrels | None = None,
        *,
        budget: int = 0,
        language: str = "en",
        seed: int = 0,
        outdir: Path | str = ".",
        **_of_runner: object,
    ) -> Leaderboard:
        """Rank the runs.

        Args:
            rag_responses: Reports of the runs.
            rag_topics: Topics that they answer.
            llm_config: Model and server of the LLM.
            qrels: Grades of documents.
            budget: Maximum number of calls of the LLM; 0 for a ranking by answers alone.
            language: Language of topics and reports.
            seed: Random seed.
            outdir: Folder of the LLM's replies, which are used again.

        Returns:
            ``MEASURES`` for each report, and for ``all`` topics of a run.
        """
        from autojudge_base import LeaderboardBuilder, LeaderboardSpec, MeasureSpec

        reports = list(rag_responses)
        arena = _arena_of(reports, rag_topics, qrels, language)
        if budget:
            arena = _judged(arena, llm_config, budget, seed, Path(outdir))
        ratings = build_board(arena, seed=seed).ratings.set_index("system")
        measures = [MeasureSpec(name, description=text) for name, text in MEASURES.items()]
        builder = LeaderboardBuilder(LeaderboardSpec(measures=tuple(measures)))
        for report in reports:
            run = report.metadata.run_id
            values = {name: float(ratings.at[run, name.lower()]) for name in MEASURES}
            builder.add(run_id=run, topic_id=report.metadata.topic_id, values=values)
        return builder.build()


def _arena_of(
    reports: Sequence[Report], topics: Sequence[Request], qrels: Qrels | None, language: str
) -> Arena:
    with TemporaryDirectory() as name:
        folder = Path(name)
        for file, records in (("runs.jsonl", reports), ("topics.jsonl", topics)):
            lines = [record.model_dump_json(exclude_none=True) + "\n" for record in records]
            (folder / file).write_text("".join(lines), encoding="utf-8")
        if qrels is not None:
            from autojudge_base import write_qrel_file

            write_qrel_file(qrel_out_file=folder / "qrels.txt", qrels=qrels)
        return import_arena("trec-rag", folder, language=language, name="autojudge").arena


def _judged(arena: Arena, llm_config: LlmConfigBase, budget: int, seed: int, outdir: Path) -> Arena:
    settings = JudgingSettings(
        model=llm_config.model,
        base_url=llm_config.base_url or OPENAI_URL,
        questions=len(arena.queries),
        budget=budget,
        seed=seed,
    )
    prior = judging_prior(arena, seed=seed)
    judging = judge(arena, settings, outdir / REPLIES, prior=prior)
    if judging.error is not None:
        raise judging.error
    require_verdicts(judging.usage)
    return replace(arena, judgments=judging.judgments)
