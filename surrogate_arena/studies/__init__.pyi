from .comparison_study import compare as compare
from .study import Study as Study
from .study_table import StudyTable as StudyTable
from .validation import PROTOCOLS as PROTOCOLS
from .validation import validate as validate
