from .kinds import FEATURE_PROMPTS as FEATURE_PROMPTS
from .kinds import KINDS as KINDS
from .kinds import load_scorer as load_scorer
from .scorer import ModelOptions as ModelOptions
from .scorer import Scorer as Scorer
