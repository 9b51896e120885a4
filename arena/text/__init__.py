"""Texts: answers, citations, languages, prompts."""
