"""May a new version go live? It is compared with its baseline by answers, verdicts and costs."""

from arena.data import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)
