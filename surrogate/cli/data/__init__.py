"""Arenas as folders: written, read, checked, chosen from."""
