"""Formats: the arena's tables and files, and what is wrong with them."""
