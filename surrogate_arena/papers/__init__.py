"""MIRAGE-Bench, MEMERAG, WikiEval (Ragas) and GroUSE.

``pairs`` tests judges on any pairs with a better answer. This folder holds what several papers
share.
"""

from arena.data import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)
