"""What systems take beside how good they are: money, time and tokens."""
