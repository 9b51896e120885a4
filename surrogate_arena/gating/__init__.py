"""Is a new version broken, better or worse than its baseline?"""

from arena.data import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)
