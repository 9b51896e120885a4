"""New systems on a board: rank, explain, advise."""
