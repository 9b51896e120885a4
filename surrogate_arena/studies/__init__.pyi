from .study import Study as Study
from .study import StudyTable as StudyTable
from .validation import PROTOCOLS as PROTOCOLS
from .validation import validate as validate
