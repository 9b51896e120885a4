"""The main job: from an arena to a board, and its folder."""
