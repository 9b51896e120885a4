from .ragas import FEATURE_PROMPTS as FEATURE_PROMPTS
from .scorer import KINDS as KINDS
from .scorer import ModelOptions as ModelOptions
from .scorer import Scorer as Scorer
from .scorer import load_scorer as load_scorer
