"""What every command uses: the list of commands, options, settings, printing."""
