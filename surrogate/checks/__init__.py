"""Checks of answers, listed in one table; near-copies; answers that are all alike."""
