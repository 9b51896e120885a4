"""Many boards kept up to date from one configuration."""
