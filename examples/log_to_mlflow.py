"""Log a board to MLflow: settings, quality by language, ratings, and the site as artifacts.

python examples/log_to_mlflow.py out/my-board
"""

import sys

import mlflow

from surrogate_arena import Board

folder = sys.argv[1]
board = Board.load(folder)
with mlflow.start_run(run_name=board.summary.arena):
    mlflow.log_params(board.summary.settings.model_dump(exclude={"features"}))
    for language, measured in board.summary.languages.items():
        if measured.tau_unseen is not None:
            mlflow.log_metric(f"{language}/tau_unseen", measured.tau_unseen)
    mlflow.log_text(board.ratings.to_csv(index=False), "ratings.csv")
    mlflow.log_artifacts(f"{folder}/site", "site")
    mlflow.set_tag("signature", board.summary.signature)
