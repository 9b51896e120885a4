"""The simulated teacher: a judge of known noise that compares two answers."""

from __future__ import annotations

from arena.seeds import generator

TEACHER = "simulated-teacher"
DEFAULT_NOISE = 0.1
TIE_MARGIN = 0.05


def judge_pair(
    language: str,
    query_id: str,
    utilities: tuple[tuple[str, float], tuple[str, float]],
    noise: float,
    seed: int,
) -> dict[str, str]:
    """Draw the judgment of two answers to one question.

    The teacher perceives the difference of the utilities plus ``noise`` times a standard
    logistic draw. It prefers the answer that seems better by more than ``TIE_MARGIN`` and else
    calls a tie. Without the margin this is the Bradley-Terry model with coefficients
    utility / noise; with it, that of Rao and Kupper. Which answer is shown first is drawn too
    and has no influence.

    Args:
        language: Language of the question.
        query_id: The question.
        utilities: The two systems with the utilities of their answers.
        noise: Temperature; 0 judges by the utilities alone.
        seed: The user's seed; the draws are keyed by language, question and pair.

    Returns:
        A row of the table of judgments.
    """
    (first, better_by), (second, worse_by) = sorted(utilities)
    random = generator(seed, "simulation", "judgment", language, query_id, first, second)
    perceived = better_by - worse_by + noise * float(random.logistic())
    is_swapped = bool(random.random() < 0.5)
    if abs(perceived) <= TIE_MARGIN:
        winner = "tie"
    else:
        winner = "a" if (perceived > 0) != is_swapped else "b"
    return {
        "query_id": query_id,
        "language": language,
        "system_a": second if is_swapped else first,
        "system_b": first if is_swapped else second,
        "winner": winner,
        "judge": TEACHER,
    }
