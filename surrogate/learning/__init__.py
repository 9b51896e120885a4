"""Learning surrogates from features and ratings."""
