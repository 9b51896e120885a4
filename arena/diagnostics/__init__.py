"""Diagnostics of an arena: what limits a board is said before the board is shown."""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
