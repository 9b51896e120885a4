"""Middle floor: what is measured on one answer, and the extraction engine."""
