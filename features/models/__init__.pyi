from .options import KINDS as KINDS
from .options import ModelOptions as ModelOptions
from .options import load_scorer as load_scorer
from .ragas import FEATURE_PROMPTS as FEATURE_PROMPTS
from .scorer import Scorer as Scorer
