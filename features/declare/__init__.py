"""Declaring a feature: what it sees of an answer, what it returns, how it is written."""
