"""Validating surrogates: protocols that hold out systems, questions, languages or arenas."""

from surrogate.validation.ablations import ablate
from surrogate.validation.arranged import Study
from surrogate.validation.importances import importances
from surrogate.validation.language_arena import TournamentSettings
from surrogate.validation.learning_curves import learning_curves
from surrogate.validation.validate import PROTOCOLS, validate
from surrogate.validation.validation import Validation, ValidationScores

__all__ = [
    "PROTOCOLS",
    "Study",
    "TournamentSettings",
    "Validation",
    "ValidationScores",
    "ablate",
    "importances",
    "learning_curves",
    "validate",
]
