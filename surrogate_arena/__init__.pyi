import arena as arena
import features as features
import surrogate as surrogate
from arena import *
from arena import __version__ as __version__
from features import *  # type: ignore[no-redef]  # both have a stage `text`
from surrogate import *
