"""MEMERAG: judges of faithfulness against human labels."""
