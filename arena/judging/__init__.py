"""Judging by LLMs: choosing pairs, prompts, verdicts and panels, all in one loop."""

from arena.data import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)
