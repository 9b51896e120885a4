"""Fast computing: integer codes of many rows, and work in several processes."""
