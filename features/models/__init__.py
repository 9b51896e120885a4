"""Models that score texts: natural-language inference, reranking, embedding, LLMs.

Nothing heavy is imported before a model is loaded.
"""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
