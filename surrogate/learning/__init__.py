"""What is learned: features and ratings in, surrogates out."""
