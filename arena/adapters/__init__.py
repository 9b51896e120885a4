"""Other published schemas, read into our tables: MIRAGE-Bench, LMArena."""

from arena.adapters.lmarena import Battles, read_battles
from arena.adapters.mirage import MirageBench, MirageFiles, load_mirage, read_mirage

__all__ = [
    "Battles",
    "MirageBench",
    "MirageFiles",
    "load_mirage",
    "read_battles",
    "read_mirage",
]
