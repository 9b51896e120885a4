"""Validating surrogates: how well they rank systems, languages and questions they have not seen."""

from arena.data import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)
