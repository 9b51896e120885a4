"""Pairs with a known better answer: ContextualJudgeBench, tables like it, the votes of an arena."""
