"""A simulated arena whose true ranking is known, and the sample that comes with the package."""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
