"""Measures of an answer: one file per family of features."""
