"""What the user has told the assistant of an account: pins, excluded folders, the least confidence, and off."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hinged.journal import DurableModel
from hinged.mail.message import Message
from hinged.mail.pins import pin_for, who_is
from hinged.mail.suggestion import Thresholds

__all__ = ["AccountSettings"]


class AccountSettings:
    """The settings of an account, which lie as notes in its journal."""

    kept: DurableModel
    thresholds: Thresholds

    def _kept_thresholds(self) -> Thresholds:
        return replace(Thresholds(), confidence=self._get("confidence", 0.0))

    def pin(self, who: str, folder: str) -> None:
        """Always suggest a folder for mail from an address, a domain (``@example.com``) or a list."""
        with self.kept.changing():
            self._put("pins", {**self.pins(), who_is(who): folder})

    def unpin(self, who: str) -> None:
        """Remove a pin."""
        with self.kept.changing():
            pins = self.pins()
            if who_is(who) not in pins:
                raise ValueError(f"there is no pin for {who!r}; pinned are {', '.join(pins) or 'none'}.")
            del pins[who_is(who)]
            self._put("pins", pins)

    def pins(self) -> dict[str, str]:
        """Return all pins: sender or list → folder."""
        return dict(self._get("pins", {}))

    def pinned(self, message: Message) -> tuple[str, str] | None:
        """Return the pin that applies to a message, and its folder: of the sender, the list, or the sender's domain."""
        return pin_for(message, self.pins())

    def keep_confidence(self, least: float) -> None:
        """Store the minimum confidence below which nothing is suggested."""
        self._put("confidence", least)
        self.thresholds = replace(self.thresholds, confidence=least)

    def exclude(self, folder: str) -> None:
        """Exclude a folder, and those below it, from learning and suggestions."""
        with self.kept.changing():
            self._put("excluded", list(dict.fromkeys([*self.excluded, folder])))

    def include(self, folder: str) -> None:
        """Undo `exclude`."""
        with self.kept.changing():
            if folder not in self.excluded:
                raise ValueError(f"{folder!r} is not excluded; excluded are {', '.join(self.excluded) or 'none'}.")
            self._put("excluded", [name for name in self.excluded if name != folder])

    @property
    def excluded(self) -> tuple[str, ...]:
        """Folders that are neither learnt from nor suggested."""
        return tuple(self._get("excluded", []))

    def switch(self, on: bool) -> None:
        """Switch the assistant on or off; while it is off, nothing is learnt, suggested, moved or marked."""
        self._put("off", not on)

    @property
    def is_off(self) -> bool:
        """True if the assistant is switched off."""
        return bool(self._get("off", False))

    def _get(self, name: str, default: object = None) -> Any:
        self.kept.refresh()  # raises if another process has erased everything
        return self.kept.journal.get(name, default)

    def _put(self, name: str, value: object) -> None:
        with self.kept.writing():
            self.kept.journal.put(name, value)
