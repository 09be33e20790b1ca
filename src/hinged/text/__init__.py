"""Bytes to features at compiled speed."""

from hinged.text.hasher import Hasher
from hinged.text.vocabulary import Vocabulary

__all__ = ["Hasher", "Vocabulary"]
