"""scikit-learn's interface for estimators, without importing scikit-learn until it is needed."""

from hinged.interface.estimator import Classifies, Detects, Estimator, Regresses, not_fitted

__all__ = ["Classifies", "Detects", "Estimator", "Regresses", "not_fitted"]
