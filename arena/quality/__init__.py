"""How good a judge is: its label, preferences, consistency, and agreement with people."""

from arena.data import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)
