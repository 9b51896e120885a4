"""Ratings: battles, Bradley-Terry, bootstrap, ranks."""
