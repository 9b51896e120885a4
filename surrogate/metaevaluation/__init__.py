"""Judges of faithfulness that look at features: grounding without a model, NLI with one."""
