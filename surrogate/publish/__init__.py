"""Boards for readers: ``write_site``, figures and their ``save``, and tables."""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
