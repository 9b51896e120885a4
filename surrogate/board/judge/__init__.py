"""Whose verdicts a board rests on, and how far these can be trusted."""
