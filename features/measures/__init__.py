"""What is measured on an answer: one file a family of features."""
