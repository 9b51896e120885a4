"""New systems on a board: rank them, and say why."""
