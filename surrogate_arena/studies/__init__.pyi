from .study import Study as Study
from .study import StudyTable as StudyTable
from .validate import PROTOCOLS as PROTOCOLS
from .validate import validate as validate
