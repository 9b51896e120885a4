"""Measuring the answers of a folder: into one table, or part by part where there are millions."""
