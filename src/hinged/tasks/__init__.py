"""What must hold after the feedback, and what the scores mean."""

from hinged.tasks.labels import extremes, rank_of_best, runner_up

__all__ = ["extremes", "rank_of_best", "runner_up"]
