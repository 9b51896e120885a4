"""Pairwise judging by LLMs: prompts, verdicts, order, panels."""

from arena.judging.aggregation import Panel, aggregate_votes, merged_orders
from arena.judging.folder import FolderJudging, judge_folder
from arena.judging.judge import LlmJudge, dry_run_judge, judge_arena
from arena.judging.pairs import ChosenPairs, choose_pairs, pairs_judged_in, shown_order
from arena.judging.prompt import PairwisePrompt, pairwise_prompt
from arena.judging.replies import parse_verdict
from arena.judging.summary import Judged, JudgingSummary

__all__ = [
    "ChosenPairs",
    "FolderJudging",
    "Judged",
    "JudgingSummary",
    "LlmJudge",
    "PairwisePrompt",
    "Panel",
    "aggregate_votes",
    "choose_pairs",
    "dry_run_judge",
    "judge_arena",
    "judge_folder",
    "merged_orders",
    "pairs_judged_in",
    "pairwise_prompt",
    "parse_verdict",
    "shown_order",
]
