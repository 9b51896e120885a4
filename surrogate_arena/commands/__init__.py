"""The commands over the core and over judging: one file per topic, one function per command."""
