"""The command line: one file a command, by stage."""
