"""Pairs of answers with the columns of ContextualJudgeBench: Ada's answers are the better ones."""

BETTER = {"long": "Ada wrote it, and it is long.", "short": "Ada wrote.", "equal": "Ada wrote it."}
WORSE = "Bob wrote it."


def pair_rows(n_pairs=4):
    """Pairs of three splits: the better answer is longer, shorter, or as long."""
    return [
        {
            "problem_id": number,
            "split": split,
            "question": f"Who wrote book {number}?",
            "context": "The shelf says so.",
            "positive_response": better,
            "negative_response": WORSE,
        }
        for split, better in BETTER.items()
        for number in range(n_pairs)
    ]
