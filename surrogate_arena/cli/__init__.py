"""The command line: one file per topic, one function per command."""
