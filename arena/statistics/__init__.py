"""Statistics that several stages need: agreement of raters and of rankings, bootstrap, tests."""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
