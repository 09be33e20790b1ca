"""Bytes to features at compiled speed; features of tokens for tagging."""

from hinged.text.hasher import Hasher
from hinged.text.vocabulary import Vocabulary
from hinged.text.window import window

__all__ = ["Hasher", "Vocabulary", "window"]
