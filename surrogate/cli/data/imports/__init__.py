"""Data sets and records of others as arena folders, one command a kind."""
