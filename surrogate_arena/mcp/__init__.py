"""A board over the Model Context Protocol: check, board, rank, gate and advise as tools."""
