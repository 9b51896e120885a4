"""The one rating of every system, and how wide its interval is."""
