"""The same learners on Apache Spark: one big model, or millions of small ones."""

from hinged.estimators.merging import merge
from hinged.estimators.state import ModelState
from hinged.scale.answering import predict_keyed
from hinged.scale.engine import local_session
from hinged.scale.frames import learner_for_frame, read_frame
from hinged.scale.keyed import learn_keyed
from hinged.scale.lessons import Lesson, Lessons
from hinged.scale.mixing import Fitted, Round, fit
from hinged.scale.predicting import predict, rejected
from hinged.scale.streaming import keyed_models

__all__ = [
    "Fitted",
    "Lesson",
    "Lessons",
    "ModelState",
    "Round",
    "fit",
    "keyed_models",
    "learn_keyed",
    "learner_for_frame",
    "local_session",
    "merge",
    "predict",
    "predict_keyed",
    "read_frame",
    "rejected",
]
