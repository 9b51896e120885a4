"""What commands share: their list, options, settings, printing."""
