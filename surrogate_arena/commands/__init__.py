"""The commands for the core and for judging."""
