"""What limits a board, in sentences; how well ratings fit; what to judge next, and priors of it."""

from arena.data.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)
