"""Pairwise judging by LLMs: prompts, verdicts, order, panels."""

from arena.judging.folder import FolderJudging, append_judgments, judge_folder
from arena.judging.judge import dry_run_judge, judge_arena
from arena.judging.llm_judge import LlmJudge
from arena.judging.pairs import ChosenPairs, choose_pairs, pairs_judged_in, shown_order
from arena.judging.panel import Panel, hold_panel
from arena.judging.prompt import PairwisePrompt, pairwise_prompt
from arena.judging.replies import parse_verdict
from arena.judging.summary import Judged, JudgingSummary, merged_orders

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
