from .contents import arena_contents as arena_contents
from .contents import white_space_words as white_space_words
from .diagnosis import Diagnosis as Diagnosis
from .diagnosis import diagnose as diagnose
