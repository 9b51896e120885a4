"""WikiEval: pairs of good and bad answers and contexts (Ragas)."""
