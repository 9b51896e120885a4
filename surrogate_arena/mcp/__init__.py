"""A board over the Model Context Protocol: check, board, rank and gate as tools."""
