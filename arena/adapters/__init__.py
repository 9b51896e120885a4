"""Other published schemas, read into our tables: MIRAGE-Bench, LMArena."""

from arena.adapters.lmarena import ForeignBattles, read_battles
from arena.adapters.mirage import MirageBench, MirageFiles, load_mirage, read_mirage

__all__ = [
    "ForeignBattles",
    "MirageBench",
    "MirageFiles",
    "load_mirage",
    "read_battles",
    "read_mirage",
]
