"""What commands share: their list, options, settings, printing, the sentence on first place."""
