"""Questions, answers and judgments, and the ratings that they give.

Reading and writing:
    read_arena, write_arena   an arena folder: questions, answers, judgments
    read_answers              answers of further systems to an arena's questions
    import_arena              what others published: MIRAGE-Bench, LMArena, tables of answers, …
    add_answers               joins a new system's answers to a folder
    Arena, ArenaInfo, Passage what is read; ``Arena.from_frames`` makes one of tables
    sample_arena              an arena that comes with the package

Rating:
    rate                      Bradley-Terry ratings of a table of judgments, intervals and tiers

Diagnosing:
    diagnose                  what limits a board, in sentences
    study_sampling            how many judgments a ranking needs

Errors:
    ArenaError                of which all others are: DataError (input, every problem with file,
                              line, field and hint), UsageError, MissingDependencyError

Names are loaded on first use; those of importing and diagnosing live in ``surrogate_arena``.
"""

from arena.data import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)
