"""Measuring many answers: in chunks, on many workers, with what was measured before kept."""
