"""The commands for the core and for judging: one file per topic, one function per command."""
