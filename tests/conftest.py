"""What all tests share: no hypothesis test depends on speed."""

from hypothesis import settings

settings.register_profile("no-deadline", deadline=None)
settings.load_profile("no-deadline")
