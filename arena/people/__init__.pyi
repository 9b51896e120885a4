from .ballots import Ballot as Ballot
from .ballots import collect_votes as collect_votes
from .ballots import make_ballot as make_ballot
