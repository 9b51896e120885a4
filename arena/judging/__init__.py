"""Pairwise judging by LLMs: prompts, verdicts, order, panels."""

from arena.judging.both_orders import merged_orders
from arena.judging.judge_arena import dry_run_judge, judge_arena
from arena.judging.judge_folder import FolderJudging, judge_folder
from arena.judging.judged import Judged
from arena.judging.judging_summary import JudgingSummary
from arena.judging.judgment_append import append_judgments
from arena.judging.llm_judge import LlmJudge
from arena.judging.order import shown_order
from arena.judging.pairs import ChosenPairs, choose_pairs, pairs_judged_in
from arena.judging.pairwise_prompt import PairwisePrompt, pairwise_prompt
from arena.judging.panel import Panel, hold_panel
from arena.judging.verdicts import parse_verdict

__all__ = [
    "ChosenPairs",
    "FolderJudging",
    "Judged",
    "JudgingSummary",
    "LlmJudge",
    "PairwisePrompt",
    "Panel",
    "append_judgments",
    "choose_pairs",
    "dry_run_judge",
    "hold_panel",
    "judge_arena",
    "judge_folder",
    "merged_orders",
    "pairs_judged_in",
    "pairwise_prompt",
    "parse_verdict",
    "shown_order",
]
