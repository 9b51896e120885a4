"""Judging by nuggets: the facts that a good answer states, and which answers state them."""
