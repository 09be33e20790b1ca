"""The mail assistant: ranked folders for every message, learnt from every correction."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hinged.mail.assistant import Assistant, Filed
    from hinged.mail.demo import write_demo
    from hinged.mail.filing import file_mail, undo
    from hinged.mail.looking import look
    from hinged.mail.message import Message, read_message
    from hinged.mail.replaying import Replayed, replay
    from hinged.mail.sources.opening import open_source
    from hinged.mail.sources.source import Folder, Place, Source, SourceError, UnreachableError
    from hinged.mail.state import state_folder
    from hinged.mail.suggestion import Candidate, Suggestion, Thresholds
    from hinged.mail.watching import Watcher

#: Where each name lives; the learner is not loaded before it is needed.
_HOMES = {
    "Assistant": "assistant",
    "Candidate": "suggestion",
    "Filed": "assistant",
    "Folder": "sources.source",
    "Message": "message",
    "Place": "sources.source",
    "Replayed": "replaying",
    "Source": "sources.source",
    "SourceError": "sources.source",
    "Suggestion": "suggestion",
    "Thresholds": "suggestion",
    "UnreachableError": "sources.source",
    "Watcher": "watching",
    "file_mail": "filing",
    "look": "looking",
    "open_source": "sources.opening",
    "read_message": "message",
    "replay": "replaying",
    "state_folder": "state",
    "undo": "filing",
    "write_demo": "demo",
}

__all__ = [
    "Assistant",
    "Candidate",
    "Filed",
    "Folder",
    "Message",
    "Place",
    "Replayed",
    "Source",
    "SourceError",
    "Suggestion",
    "Thresholds",
    "UnreachableError",
    "Watcher",
    "file_mail",
    "look",
    "open_source",
    "read_message",
    "replay",
    "state_folder",
    "undo",
    "write_demo",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(f"hinged.mail.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'hinged.mail' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
