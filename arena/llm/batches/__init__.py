"""Sending prompts as batches, which servers answer within a day; later runs collect replies."""
