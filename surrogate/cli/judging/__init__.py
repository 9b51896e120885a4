"""Answers and verdicts: asked for, kept, looked at."""
