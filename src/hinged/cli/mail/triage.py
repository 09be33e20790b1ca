"""`hinged mail triage`: file the messages of the inbox in the terminal, one key each."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING, Any

from hinged.cli.interrupts import Ending
from hinged.cli.mail.opening import InFolder, Mail, State, assistant_of, mail_at
from hinged.cli.mail.showing import tell
from hinged.cli.options import AsJson
from hinged.cli.progress import bar
from hinged.cli.tables import bold, count, dim, percent, shorten, width_of

if TYPE_CHECKING:
    from hinged.cli.mail.keys import Keyboard
    from hinged.mail.web.desk import Desk

__all__ = ["triage"]

HELP = "1-9 file · / any folder · space skip · ↑ back · u undo · ? why · q quit"
MOST_MATCHES = 9


def triage(source: Mail, *, folder: InFolder = None, state: State = None, as_json: AsJson = False) -> None:
    """File the messages of the inbox in the terminal, one key each, newest first.

    1, 2 and 3 file a message in a suggested folder, / in any other, found by parts of its name; space skips it, u
    undoes the last filing, ? shows the reasons, q quits. Every filing is learnt at once, as on the page.

    Example: hinged mail triage ~/Maildir
    """
    from hinged.cli.mail.keys import Keyboard
    from hinged.mail.web.desk import Desk

    keyboard = Keyboard()
    with Ending(), mail_at(source) as mail, assistant_of(source, state) as assistant:
        desk = Desk(mail, assistant, folder)
        with bar() as show:
            desk.refresh(show)
        with keyboard:
            filed, left = _Triage(desk, keyboard).run()
    sentence = f"{count(filed, 'message')} filed, {left} left in {desk.folder}."
    tell(sentence, as_json, filed=filed, left=left)


class _Triage:
    """One message at a time, and what the keys do with it."""

    def __init__(self, desk: Desk, keyboard: Keyboard) -> None:
        self.desk, self.keyboard = desk, keyboard
        self._at, self._note, self._explained = 0, "", False
        self._row: dict[str, Any] | None = None  # the message that is shown; None after the last one
        self._total = 0

    def run(self) -> tuple[int, int]:
        """Work until the user quits; return how many messages were filed, and how many are left."""
        while True:
            self._look()
            self.keyboard.show(self._lines())
            key = self.keyboard.key()
            if key in ("q", "quit"):
                return len(self.desk.steps), self._total
            if key != "resized":
                self._try(lambda: self._do(key))  # noqa: B023 (called at once)

    def _look(self) -> None:
        page: dict[str, Any] = self.desk.rows(self._at, 1)
        self._total = page["total"]
        self._at = min(self._at, self._total)
        self._row = page["rows"][0] if page["rows"] else None

    def _try(self, do: Callable[[], None]) -> None:
        """Do what a key means; what goes wrong is shown in place of what was done."""
        from hinged.mail.sources.source import SourceError

        self._note = ""
        try:
            do()
        except (SourceError, ValueError, OSError) as problem:
            self._note = str(problem)

    def _do(self, key: str) -> None:
        if key == "u":
            done = self.desk.undo()
            self._at, self._note = int(str(done["at"])), f"taken back from {done['folder']}"
        elif key in (" ", "down"):
            self._move(min(self._at + 1, self._total))
        elif key == "up":
            self._move(max(0, self._at - 1))
        elif self._row is None:
            return
        elif key == "?":
            self._explained = not self._explained
        elif key == "/":
            name = _Search(self).run()
            if name:
                self._file(name)
        elif key.isdigit() and 1 <= int(key) <= len(self._row["folders"]):
            self._file(self._row["folders"][int(key) - 1]["name"])

    def _move(self, to: int) -> None:
        self._at, self._explained = to, False

    def _file(self, folder: str) -> None:
        assert self._row is not None
        self.desk.file(self._row["key"], folder)
        self._note, self._explained = f"filed in {folder}; u undoes that", False

    # ------------------------------------------------------------------ what is shown
    def _lines(self) -> list[str]:
        columns = self.keyboard.size.columns
        head = dim(shorten(f"{self.desk.folder}: {self._at + 1} of {self._total}" if self._row else "", columns))
        end = ["", *([shorten(self._note, columns)] if self._note else []), dim(shorten(HELP, columns))]
        if self._row is None:
            return [f"There is no other message in {self.desk.folder}; {self._total} left.", *end]
        return [head, *self.about(), "", *self._folders(columns), *end]

    def about(self) -> list[str]:
        """Return the lines about the message."""
        from hinged.cli.mail.keys import fitted

        assert self._row is not None
        columns, row = self.keyboard.size.columns, self._row
        when = "" if row["date"] is None else f", {_day(row['date'])}"
        sender = shorten(f"from {row['from']}{when}", columns)
        return [bold(shorten(row["subject"], columns)), dim(sender), *fitted(row["snippet"], columns)[:3]]

    def _folders(self, columns: int) -> list[str]:
        assert self._row is not None
        if self._row["silent"]:
            return [shorten(self._row["silent"], columns)]
        names = [shorten(one["name"], columns - 12) for one in self._row["folders"]]
        sure = percent(self._row["confidence"], 0)
        lines = [f"  {n + 1}  {bold(name)}{dim('  ' + sure) if n == 0 else ''}" for n, name in enumerate(names)]
        return [line for n, own in enumerate(lines) for line in (own, *self._reasons(n, columns))]

    def _reasons(self, number: int, columns: int) -> list[str]:
        if not self._explained:
            return []
        assert self._row is not None
        told: dict[str, Any] = self.desk.message(self._row["key"])
        folder = told["folders"][number] if number < len(told.get("folders", [])) else {"for": [], "against": []}
        return [
            dim(shorten(f"       {share:+.2f}  {why}", columns)) for why, share in folder["for"] + folder["against"]
        ]


class _Search:
    """Choosing any folder by parts of its name; Enter takes the marked one, or makes the folder if there is none."""

    def __init__(self, triage: _Triage) -> None:
        self._triage, self._keyboard = triage, triage.keyboard
        folders: Any = triage.desk.folders()["folders"]
        self._names: list[str] = [one["name"] for one in folders]
        self._typed, self._marked = "", 0

    def run(self) -> str | None:
        """Return the name of the folder; None if the user thinks better of it."""
        while True:
            found = matches(self._typed, self._names)
            self._marked = min(self._marked, max(0, len(found) - 1))
            self._show(found)
            key = self._keyboard.key()
            if key in ("escape", "quit"):
                return None
            if key == "enter" and (found or self._typed):
                return found[self._marked] if found else str(self._triage.desk.make(self._typed)["folder"])
            self._edit(key, found)

    def _edit(self, key: str, found: list[str]) -> None:
        if key in ("up", "down"):
            self._marked = max(0, self._marked + (1 if key == "down" else -1))
        elif key == "backspace":
            self._typed = self._typed[:-1]
        elif key == "tab":
            self._typed = completed(self._typed, found)
        elif len(key) == 1:
            self._typed, self._marked = self._typed + key, 0

    def _show(self, found: list[str]) -> None:
        columns = self._keyboard.size.columns
        first = max(0, self._marked - MOST_MATCHES + 1)
        shown = [
            f"{'>' if first + n == self._marked else ' '} {shorten(name, columns - 3)}"
            for n, name in enumerate(found[first : first + MOST_MATCHES])
        ]
        if not found:
            shown = [shorten(f"  there is none; Enter makes {self._typed}", columns)]
        typed = f"folder: {self._typed}"
        hidden = max(0, width_of(typed) - columns + 1)
        keys = dim(shorten("Enter take · Tab complete · ↑ ↓ choose · Esc cancel", columns))
        self._keyboard.show([*self._triage.about(), "", typed[hidden:], *shown, "", keys])


def matches(typed: str, names: list[str]) -> list[str]:
    """Return the names that contain every word that was typed, those that begin with it first.

    Examples
    --------
    >>> matches("tax", ["Work/Taxes", "Taxes", "Play"])
    ['Taxes', 'Work/Taxes']
    """
    words = typed.casefold().split()
    found = [name for name in names if all(word in name.casefold() for word in words)]
    return sorted(found, key=lambda name: not name.casefold().startswith(typed.casefold()))


def completed(typed: str, found: list[str]) -> str:
    """Return what was typed, completed as far as the names that begin with it agree.

    Examples
    --------
    >>> completed("ta", ["Taxes/2023", "Taxes/2024"]), completed("es", ["Taxes"]), completed("x", [])
    ('Taxes/202', 'Taxes', 'x')
    """
    begun = [name for name in found if name.lower().startswith(typed.lower())]
    if not begun:
        return found[0] if len(found) == 1 else typed
    letters = zip(*(name.lower() for name in begun), strict=False)
    return begun[0][: next((n for n, some in enumerate(letters) if len(set(some)) > 1), min(map(len, begun)))]


def _day(date: float) -> str:
    try:
        return datetime.fromtimestamp(date).date().isoformat()
    except (ValueError, OverflowError, OSError):
        return "no date"
