"""WikiEval: judges of three qualities of RAG, held against pairs of a better and a worse text.

Es et al. (2023), Ragas: Automated Evaluation of Retrieval Augmented Generation, sections 4 and 5.
Its texts are from Wikipedia; none of them comes with this package.
"""

from arena.metaevaluation.wikieval.accuracy import score_preferences, wikieval_metaevaluations
from arena.metaevaluation.wikieval.criteria import CRITERIA, Criterion
from arena.metaevaluation.wikieval.gpt_judges import GptRanking, GptScore
from arena.metaevaluation.wikieval.lexical_judge import LexicalPairJudge
from arena.metaevaluation.wikieval.pairs import (
    FunctionJudge,
    Pair,
    PairJudge,
    Preference,
    Score,
    higher,
)
from arena.metaevaluation.wikieval.published import PUBLISHED
from arena.metaevaluation.wikieval.reading import read_wikieval
from arena.metaevaluation.wikieval.verdicts import judge_pairs

__all__ = [
    "CRITERIA",
    "PUBLISHED",
    "Criterion",
    "FunctionJudge",
    "GptRanking",
    "GptScore",
    "LexicalPairJudge",
    "Pair",
    "PairJudge",
    "Preference",
    "Score",
    "higher",
    "judge_pairs",
    "read_wikieval",
    "score_preferences",
    "wikieval_metaevaluations",
]
