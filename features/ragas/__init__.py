"""The three qualities of Ragas, each measured by asking an LLM, without a reference answer.

Es et al. (2023), Ragas: Automated Evaluation of Retrieval Augmented Generation, section 3.
"""
