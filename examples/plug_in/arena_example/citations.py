"""A judge without an LLM: the answer that cites more passages is better."""

import re


def judge(
    question: str,  # noqa: ARG001 - every judge gets it
    answer_a: str,
    answer_b: str,
) -> tuple[str, str]:
    """Return the winner (a, b or tie) and the reason."""
    n_cited_a = len(set(re.findall(r"\[[^\[\]]+\]", answer_a)))
    n_cited_b = len(set(re.findall(r"\[[^\[\]]+\]", answer_b)))
    reason = f"A cites {n_cited_a}, B cites {n_cited_b}"
    if n_cited_a == n_cited_b:
        return "tie", reason
    return ("a" if n_cited_a > n_cited_b else "b"), reason
