"""Measuring a folder's answers, perhaps part by part."""
