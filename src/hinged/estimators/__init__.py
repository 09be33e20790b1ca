"""fit / partial_fit / predict on matrices, learn_one / predict_one on rows."""

from hinged.estimators.classifier import Classifier
from hinged.estimators.ranker import Ranker

__all__ = ["Classifier", "Ranker"]
