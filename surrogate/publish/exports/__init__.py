"""Boards in other formats: tables and cards."""
