"""MEMERAG: judges of faithfulness against human labels in five languages.

Cruz Blandón et al. (ACL 2025), MEMERAG: A Multilingual End-to-End Meta-Evaluation Benchmark for
Retrieval Augmented Generation. Its data is CC BY-NC 4.0 and for evaluation only; none of it comes
with this package.
"""

from arena.metaevaluation.memerag.answer_labels import parse_label
from arena.metaevaluation.memerag.balanced_accuracy import score_judges
from arena.metaevaluation.memerag.best_judges import mark_best
from arena.metaevaluation.memerag.claims import Claim, FunctionJudge, Judge, Verdict
from arena.metaevaluation.memerag.comparison import JudgeComparison, compare_judges
from arena.metaevaluation.memerag.faithfulness_prompts import PROMPTS, FaithfulnessPrompt
from arena.metaevaluation.memerag.fine_grained import fine_grained_accuracy
from arena.metaevaluation.memerag.label_distributions import (
    LabelDistributions,
    label_distributions,
)
from arena.metaevaluation.memerag.lexical_judge import LexicalJudge
from arena.metaevaluation.memerag.llm_judge import LlmFaithfulnessJudge, paper_settings
from arena.metaevaluation.memerag.rating_files import read_ratings
from arena.metaevaluation.memerag.reading import read_memerag
from arena.metaevaluation.memerag.run_file import MemeragRun, read_run, write_run
from arena.metaevaluation.memerag.verdicts import judge_sentences

__all__ = [
    "PROMPTS",
    "Claim",
    "FaithfulnessPrompt",
    "FunctionJudge",
    "Judge",
    "JudgeComparison",
    "LabelDistributions",
    "LexicalJudge",
    "LlmFaithfulnessJudge",
    "MemeragRun",
    "Verdict",
    "compare_judges",
    "fine_grained_accuracy",
    "judge_sentences",
    "label_distributions",
    "mark_best",
    "paper_settings",
    "parse_label",
    "read_memerag",
    "read_ratings",
    "read_run",
    "score_judges",
    "write_run",
]
