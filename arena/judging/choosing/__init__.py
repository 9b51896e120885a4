"""Which pairs are judged: drawn before the first verdict, or chosen as verdicts come."""
