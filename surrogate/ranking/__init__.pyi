from .advice import advise as advise
from .gate import Gate as Gate
from .gate import GateJudging as GateJudging
from .gate import GateRates as GateRates
from .gate import gate as gate
from .rank import RankedSystems as RankedSystems
from .rank import place_systems as place_systems
from .rank import rank_systems as rank_systems
