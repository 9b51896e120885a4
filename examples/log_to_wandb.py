"""Log a board to Weights & Biases: settings, quality by language, ratings as a table, the site.

python examples/log_to_wandb.py out/my-board
"""

import sys

import wandb

from surrogate_arena import Board

folder = sys.argv[1]
board = Board.load(folder)
config = {**board.summary.settings.model_dump(), "signature": board.summary.signature}
with wandb.init(project="surrogate-arena", name=board.summary.arena, config=config) as run:
    for language, measured in board.summary.languages.items():
        run.summary[f"{language}/tau_unseen"] = measured.tau_unseen
    run.log({"ratings": wandb.Table(dataframe=board.ratings)})
    site = wandb.Artifact("site", type="leaderboard")
    site.add_dir(f"{folder}/site")
    run.log_artifact(site)
