"""A server for a board's pages, and for people who vote at the same time."""
