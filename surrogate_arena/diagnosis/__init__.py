"""What limits a board; how well ratings fit; priors for judging."""

from arena.data import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)
