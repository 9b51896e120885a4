"""Formats: the arena's tables and files, and what is wrong with them."""

__version__ = "0.1.0"
