"""The main job: from an arena to a board, and the folder it lives in."""
