"""Models that score texts: natural-language inference, reranking, embedding, LLMs.

Nothing heavy is imported before a model is loaded.
"""

from arena.data.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)
