"""Validating surrogates: how well they rank systems, languages and questions they have not seen."""

from surrogate.learning.language_data import TournamentSettings
from surrogate.validation.study import Study, StudyTable
from surrogate.validation.validate import PROTOCOLS, validate

__all__ = ["PROTOCOLS", "Study", "StudyTable", "TournamentSettings", "validate"]
