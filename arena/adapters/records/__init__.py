"""Records of answers that programs write: tables of one's own, and logs of other tools."""
