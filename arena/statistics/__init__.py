"""Statistics that several stages need: agreement of rankings, bootstrap, intervals, tests."""
