"""One rating from what is expected of a system and what verdicts say of it."""
