"""What is observed in answers: facts that keep a system from a rank, and remarks that do not."""
