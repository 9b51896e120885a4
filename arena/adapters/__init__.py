"""Other published schemas, read into our tables: MIRAGE-Bench, LMArena."""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
