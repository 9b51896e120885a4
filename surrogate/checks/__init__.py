"""Checks of answers by one table; near-copies; who has no rank, and why."""
