"""A board as a static site: HTML that needs neither a server nor the network."""

from surrogate.report.board_tables import BoardTables, read_board_tables
from surrogate.report.site import write_site

__all__ = ["BoardTables", "read_board_tables", "write_site"]
