"""Agreement of rankings, bootstrap, intervals, tests."""
