"""Validating surrogates: protocols that hold out systems, questions, languages or arenas."""

from surrogate.learning.languages import TournamentSettings
from surrogate.validation.ablations import ablate
from surrogate.validation.frontier import frontier
from surrogate.validation.importances import importances
from surrogate.validation.learning_curves import learning_curves
from surrogate.validation.scores import Validation, ValidationScores
from surrogate.validation.study import Study, StudyTable
from surrogate.validation.validate import PROTOCOLS, validate

__all__ = [
    "PROTOCOLS",
    "Study",
    "StudyTable",
    "TournamentSettings",
    "Validation",
    "ValidationScores",
    "ablate",
    "frontier",
    "importances",
    "learning_curves",
    "validate",
]
