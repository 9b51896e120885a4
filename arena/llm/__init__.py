"""Asking LLMs: many prompts to one model, each answer kept and paid for once."""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
