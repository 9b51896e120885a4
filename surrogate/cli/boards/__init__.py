"""Boards: built, extended, compared, shown."""
