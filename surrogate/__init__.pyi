from surrogate_arena.diagnosis.judging_prior import judging_prior as judging_prior
from surrogate_arena.studies.validation import validate as validate

from . import board as board
from . import checks as checks
from . import learning as learning
from . import ranking as ranking
from .board.board import Board as Board
from .board.build import build_board as build_board
from .board.settings import BoardSettings as BoardSettings
from .learning.saving import load_surrogate as load_surrogate
from .learning.saving import save_surrogate as save_surrogate
from .learning.surrogate import Surrogate as Surrogate
from .learning.surrogate import find_surrogate as find_surrogate
from .ranking.rank import rank_systems as rank_systems
