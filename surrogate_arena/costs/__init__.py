"""What systems cost: money, time and tokens."""
