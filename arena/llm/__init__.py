"""Asking LLMs: many prompts to one model, each answer kept and paid for once."""

from arena.data import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)
