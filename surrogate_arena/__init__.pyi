import arena as arena
import features as features
import surrogate as surrogate
from arena import Arena as Arena
from arena import ArenaError as ArenaError
from arena import DataError as DataError
from arena import JudgingSettings as JudgingSettings
from arena import MissingDependencyError as MissingDependencyError
from arena import UsageError as UsageError
from arena import __version__ as __version__
from arena import diagnose as diagnose
from arena import import_arena as import_arena
from arena import open_store as open_store
from arena import rate as rate
from arena import read_answers as read_answers
from arena import read_arena as read_arena
from arena import sample_arena as sample_arena
from arena import write_arena as write_arena
from features import FEATURES as FEATURES
from features import Feature as Feature
from features import ModelOptions as ModelOptions
from features import Sample as Sample
from features import extract as extract
from surrogate import Board as Board
from surrogate import BoardSettings as BoardSettings
from surrogate import Surrogate as Surrogate
from surrogate import build_board as build_board
from surrogate import gate as gate
from surrogate import judge as judge
from surrogate import rank_systems as rank_systems
from surrogate import validate as validate
from surrogate import write_site as write_site
