"""Judging less: what a part of the judgments is worth, and which to make next."""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
