from .advice import advise as advise
from .prior import judging_prior as judging_prior
from .rank import place_systems as place_systems
from .rank import rank_systems as rank_systems
from .ranked_systems import RankedSystems as RankedSystems
