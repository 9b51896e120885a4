from .scores import StudyTable as StudyTable
from .study import Study as Study
from .validation import PROTOCOLS as PROTOCOLS
from .validation import validate as validate
