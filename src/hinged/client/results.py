"""What the service answers, with names."""

from __future__ import annotations

from typing import Any, NamedTuple

__all__ = ["Bulk", "Learnt", "Status"]


class Learnt(NamedTuple):
    """Where an example stands in the journal, and whether it was new."""

    seq: int
    new: bool


class Bulk(NamedTuple):
    """What became of many examples.

    Attributes
    ----------
    learnt : how many were new
    repeated : how many had been learnt before, by their keys
    refused : the place of each that was refused, from 0, and why
    """

    learnt: int
    repeated: int
    refused: dict[int, str]


class Status(NamedTuple):
    """What a model is, and how far it has come; settings as model files have them."""

    name: str
    estimator: str
    settings: dict[str, Any]
    rounds: int
    mistakes: int
    updates: int
    novel: int
    labels: list[Any]
    journal: int
