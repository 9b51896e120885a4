"""Files of other programs and publishers, read as arenas: one reader per kind, see ``imports``."""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
