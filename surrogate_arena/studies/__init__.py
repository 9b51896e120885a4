"""Validating surrogates: how well they rank systems, languages and questions they have not seen."""

from surrogate.learning.language_data import TournamentSettings
from surrogate_arena.studies.study import Study, StudyTable
from surrogate_arena.studies.validate import PROTOCOLS, validate

__all__ = ["PROTOCOLS", "Study", "StudyTable", "TournamentSettings", "validate"]
