"""Studies: how well surrogates, judges and samples do."""
