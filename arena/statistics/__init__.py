"""Statistics that several stages need: agreement of rankings, bootstrap, intervals, tests."""

from arena.data.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)
