"""Several judges: one verdict of a panel, and each held against the others."""
