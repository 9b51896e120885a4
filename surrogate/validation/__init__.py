"""Validating surrogates: protocols that hold out systems, questions, languages or arenas."""

from surrogate.validation.language_arena import TournamentSettings
from surrogate.validation.validate import PROTOCOLS, validate
from surrogate.validation.validation import Validation, ValidationScores

__all__ = [
    "PROTOCOLS",
    "TournamentSettings",
    "Validation",
    "ValidationScores",
    "validate",
]
