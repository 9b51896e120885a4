"""Models run on this machine by transformers, asked like those behind servers."""
