"""The mail assistant: ranked folders for every message, learnt from every correction."""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False  # for type checkers; importing typing takes as long as the start of Python
if TYPE_CHECKING:
    from typing import Any

    from hinged.mail.assistant import Assistant, Filed
    from hinged.mail.demo import write_demo
    from hinged.mail.filed import Entry, PromiseBroken
    from hinged.mail.filing import file_mail, undo
    from hinged.mail.looking import look
    from hinged.mail.message import Message, read_message
    from hinged.mail.promise import Promise
    from hinged.mail.replaying import Replayed, replay
    from hinged.mail.self_filing import SelfFiling
    from hinged.mail.sources.opening import open_source, state_folder
    from hinged.mail.sources.source import Folder, Place, Source, SourceError, UnreachableError
    from hinged.mail.suggestion import Candidate, Suggestion, Thresholds
    from hinged.mail.watching import Watcher

#: The names of each module; the learner is not loaded before it is needed.
_NAMES = {
    "assistant": ("Assistant", "Filed"),
    "demo": ("write_demo",),
    "filed": ("Entry", "PromiseBroken"),
    "filing": ("file_mail", "undo"),
    "looking": ("look",),
    "message": ("Message", "read_message"),
    "promise": ("Promise",),
    "replaying": ("Replayed", "replay"),
    "self_filing": ("SelfFiling",),
    "sources.opening": ("open_source", "state_folder"),
    "sources.source": ("Folder", "Place", "Source", "SourceError", "UnreachableError"),
    "suggestion": ("Candidate", "Suggestion", "Thresholds"),
    "watching": ("Watcher",),
}
_HOMES = {name: home for home, names in _NAMES.items() for name in names}

__all__ = [
    "Assistant",
    "Candidate",
    "Entry",
    "Filed",
    "Folder",
    "Message",
    "Place",
    "Promise",
    "PromiseBroken",
    "Replayed",
    "SelfFiling",
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
