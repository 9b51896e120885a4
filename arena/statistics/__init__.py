"""Statistics that several stages need: agreement of raters and of rankings."""
