"""Tables that an arena may have beside its three: published ratings, what systems are made of."""
