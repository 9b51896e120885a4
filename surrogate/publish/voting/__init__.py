"""Ballots as pages."""
