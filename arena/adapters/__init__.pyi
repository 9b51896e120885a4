from .lmarena import ForeignBattles as ForeignBattles
from .lmarena import read_battles as read_battles
from .mirage import MirageBench as MirageBench
from .mirage import MirageFiles as MirageFiles
from .mirage import load_mirage as load_mirage
from .mirage import read_mirage as read_mirage
