"""Top floor: surrogate judges, validation, ranking new systems, the command line."""
