"""Boards for readers: site, figures, exports."""
