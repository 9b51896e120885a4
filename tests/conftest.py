"""What all tests share: no hypothesis test depends on speed, and 40 examples are enough."""

from hypothesis import settings

settings.register_profile("arena", deadline=None, max_examples=40)
settings.load_profile("arena")
