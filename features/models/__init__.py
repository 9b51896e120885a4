"""Features that use a model or an arena's marks, and the models themselves: NLI, rerankers, LLMs.

Nothing heavy is imported before a model is loaded.
"""

from arena.data import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)
