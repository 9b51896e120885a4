"""Checks of answers by one table; near-copies; answers that are all alike."""
