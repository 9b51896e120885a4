"""Measuring a folder's answers, into one table or, for millions of them, part by part."""
