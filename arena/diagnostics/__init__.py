"""Diagnostics of an arena: find what limits a board before it is built."""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
