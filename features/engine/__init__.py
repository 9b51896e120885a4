"""Measuring many answers: in chunks, on many workers, reusing earlier results."""
