"""Durable models: a journal of all examples, and snapshots of the model beside it."""

from hinged.journal.durable import DurableModel
from hinged.journal.errors import InUseError, JournalError
from hinged.journal.journal import Event, Journal
from hinged.journal.learning import Example, Receipt

__all__ = ["DurableModel", "Event", "Example", "InUseError", "Journal", "JournalError", "Receipt"]
