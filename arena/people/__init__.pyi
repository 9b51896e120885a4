from .ballot import Ballot as Ballot
from .ballot import make_ballot as make_ballot
from .votes import collect_votes as collect_votes
