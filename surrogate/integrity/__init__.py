"""What is seen in answers: facts that keep a system from a rank, and notes that do not."""
