"""The label features of `hinged.sharing`, by the name under which settings speak of them."""

from hinged.sharing.evidence import Evidence
from hinged.sharing.features import Distance, First, Frequency, Tfidf, resolve

__all__ = ["Distance", "Evidence", "First", "Frequency", "Tfidf", "resolve"]
