"""Judgments by several criteria: one board for each, and an overview by weights."""
