"""Whether a rank can rest on answers: what is known of them as facts, and what is noted."""
