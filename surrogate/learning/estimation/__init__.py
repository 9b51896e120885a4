"""The models behind ratings: of answers on questions, of systems, and of verdicts on both."""
