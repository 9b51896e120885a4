from .agreement import agreement_report as agreement_report
from .agreement import code_ratings as code_ratings
from .agreement import fleiss_kappa as fleiss_kappa
from .agreement import gwet_ac1 as gwet_ac1
from .bootstrap import percentile_interval as percentile_interval
from .rank_agreement import kendall_tau as kendall_tau
from .significance import holm_adjusted as holm_adjusted
from .significance import wilson_interval as wilson_interval
