"""How good judges are, against human labels."""
