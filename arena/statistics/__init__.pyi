from .agreement import kendall_tau as kendall_tau
from .bootstrap import percentile_interval as percentile_interval
from .significance import holm_adjusted as holm_adjusted
from .significance import wilson_interval as wilson_interval
