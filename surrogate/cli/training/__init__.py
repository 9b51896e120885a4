"""Commands that make training sets and tune models on them."""
