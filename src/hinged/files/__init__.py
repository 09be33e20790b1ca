"""Learn, predict, judge, explain and inspect with files of examples."""

from hinged.files.answers import Answers, answer
from hinged.files.describe import describe
from hinged.files.examples import load_learner, new_learner, rows_for, task_of
from hinged.files.explain import Reason, explain_one
from hinged.files.judging import judge
from hinged.files.stream import Tally, learn_stream, learner_for

__all__ = [
    "Answers",
    "Reason",
    "Tally",
    "answer",
    "describe",
    "explain_one",
    "judge",
    "learn_stream",
    "learner_for",
    "load_learner",
    "new_learner",
    "rows_for",
    "task_of",
]
