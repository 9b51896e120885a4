"""Plans of judging: which judges are asked about which pairs, and when a run stops."""
