from .diff import BoardDiff as BoardDiff
from .diff import diff_boards as diff_boards
