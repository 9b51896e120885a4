"""Two boards compared: what moved, and is it more than noise."""
