"""Declaring a feature: what it sees of an answer, what it may give, how it is written."""
