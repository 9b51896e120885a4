"""Whether a rank can rest on answers: none does on those that look tampered with."""
