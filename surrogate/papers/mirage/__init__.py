"""MIRAGE-Bench (Thakur et al., NAACL 2025): its data, training set and figures."""
