"""Four papers, one folder for each: MIRAGE-Bench, MEMERAG, WikiEval (Ragas) and GroUSE.

Each folder holds the paper's reader, prompts, metric, tables, training set and figures; ``pairs``
tests judges on any pairs with a better answer. This folder holds the parts that several papers
share: judges compared with people (``evaluate_judges(Memerag(read_memerag(folder)),
["llm:gpt-4o"])``), training sets, tuning.
Only commands import from here. Names are loaded on first use.
"""

from arena.data.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)
