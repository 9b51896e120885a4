from .adaptive import AdaptivePairing as AdaptivePairing
from .study import SampledTaus as SampledTaus
from .study import SamplingStudy as SamplingStudy
from .study import connected_battles as connected_battles
from .study import sample_taus as sample_taus
from .study import study_sampling as study_sampling
from .subsets import DESIGNS as DESIGNS
