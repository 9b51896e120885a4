"""MIRAGE-Bench (Thakur et al., NAACL 2025): data, recipe, tables 3 and 4, training set, figure."""
