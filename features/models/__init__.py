"""Features that use a model, and the models.

Nothing heavy is imported before a model is loaded.
"""

from arena.data import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)
