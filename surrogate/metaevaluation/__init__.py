"""Judges held against people: MEMERAG, WikiEval, GroUSE, or a benchmark of one's own.

``evaluate_judges(Memerag(read_memerag(folder)), ["llm:gpt-4o"]).verdicts`` is a table
with one row a judge and item: the verdict's value, or why there is none. Names are loaded on first
use, so that the command line starts quickly.
"""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
