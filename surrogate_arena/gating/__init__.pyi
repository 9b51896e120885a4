from .comparison import SystemComparison as SystemComparison
from .comparison import compare_systems as compare_systems
from .gate import GateJudging as GateJudging
from .gate_report import gate_junit as gate_junit
from .gate_report import gate_markdown as gate_markdown
from .gate_result import Gate as Gate
from .rating_difference import GateRates as GateRates
