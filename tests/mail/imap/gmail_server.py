"""A server on a loopback port that answers as Gmail does: one message, many labels, and a folder for each label."""

from __future__ import annotations

import re
import select
import socketserver
import threading
from dataclasses import dataclass, field

from imapclient.imap_utf7 import decode, encode

ALL, INBOX = "[Gmail]/All Mail", "INBOX"
#: Folders of Gmail's own: their special use, and the label of their messages.
SYSTEM = {
    "[Gmail]/Important": ("\\Important", "\\Important"),
    "[Gmail]/Sent Mail": ("\\Sent", "\\Sent"),
    "[Gmail]/Trash": ("\\Trash", "\\Trash"),
}
CAN = "IMAP4rev1 UNSELECT IDLE NAMESPACE QUOTA ID XLIST CHILDREN X-GM-EXT-1 UIDPLUS MOVE CONDSTORE ESEARCH"
TOKEN = re.compile(rb'"((?:[^"\\]|\\.)*)"|([()])|([^\s()"\[]*(?:\[[^\]]*\])?[^\s()"]*)')


@dataclass
class Letter:
    """A message, and its labels; those of Gmail's own begin with a backslash."""

    raw: bytes
    labels: set[str]
    flags: set[bytes] = field(default_factory=set)


@dataclass
class Gmail:
    """The mail of one account; UIDs of a label's folder are its own, as on the real server."""

    shows_all: bool = True
    validity: int = 7
    letters: dict[int, Letter] = field(default_factory=dict)
    labels: set[str] = field(default_factory=set)
    uids: dict[str, dict[int, int]] = field(default_factory=dict)  # folder → number of a letter → UID there
    given: dict[str, int] = field(default_factory=dict)  # the last UID of each folder
    commands: list[bytes] = field(default_factory=list)
    cut_at: bytes = b""  # the connection ends when this comes, once
    cut_before: bool = True  # False: it is done first, and only the answer is lost

    def add(self, raw: bytes, *labels: str) -> int:
        """A message arrives."""
        number = max(self.letters, default=0) + 1
        self.letters[number] = Letter(raw, set())
        self.change(number, set(labels))
        return number

    def change(self, number: int, add: set[str] = frozenset(), remove: set[str] = frozenset()) -> None:
        """Labels are set and removed; those that do not exist are made."""
        letter = self.letters[number]
        letter.labels = (letter.labels | add) - remove
        self.labels |= {label for label in add if not label.startswith("\\")}
        for folder in self.folders():
            held = self.uids.setdefault(folder, {})
            if not self._is_in(letter, folder):
                held.pop(number, None)
            elif number not in held:
                self.given[folder] = self.given.get(folder, 0) + 1 if folder != ALL else number + 100
                held[number] = self.given[folder]

    def expunge(self, number: int) -> None:
        del self.letters[number]
        for held in self.uids.values():
            held.pop(number, None)

    def folders(self) -> list[str]:
        return [INBOX, *([ALL] if self.shows_all else []), *SYSTEM, *sorted(self.labels)]

    def label_of(self, folder: str) -> str:
        return "\\Inbox" if folder == INBOX else SYSTEM[folder][1] if folder in SYSTEM else folder

    def _is_in(self, letter: Letter, folder: str) -> bool:
        if folder == ALL:
            return "\\Trash" not in letter.labels
        return self.label_of(folder) in letter.labels

    def __enter__(self) -> Gmail:
        class Handler(_Session):
            account = self

        socketserver.ThreadingTCPServer.allow_reuse_address = True
        self._server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.port = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, *raised: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    @property
    def url(self) -> str:
        return f"imap://jane@127.0.0.1:{self.port}/?insecure&timeout=5"


class _Session(socketserver.StreamRequestHandler):
    """One connection."""

    account: Gmail
    folder = ""
    disable_nagle_algorithm = True

    def handle(self) -> None:
        self.say(f"* OK Gimap ready [CAPABILITY {CAN}]")
        for line in self.rfile:
            tag, _, rest = line.rstrip(b"\r\n").partition(b" ")
            self.account.commands.append(rest)
            cut = self.account.cut_at != b"" and self.account.cut_at in rest
            if cut:
                self.account.cut_at = b""
            if cut and self.account.cut_before:
                return
            words = _words(rest)
            name = words.pop(0).decode().upper()
            if name == "UID":
                name = "UID_" + words.pop(0).decode().upper()
            answer = getattr(self, f"do_{name.lower()}", None)
            if answer is None:
                self.say(f"{tag.decode()} BAD Unknown command {name}")
                continue
            done = answer(*words) or "OK Success"
            if cut:
                return
            self.say(f"{tag.decode()} {done}")
            if name == "LOGOUT":
                return

    def say(self, line: str | bytes) -> None:
        self.wfile.write((line.encode() if isinstance(line, str) else line) + b"\r\n")

    def do_capability(self) -> None:
        self.say(f"* CAPABILITY {CAN}")

    def do_login(self, *words: bytes) -> None: ...

    def do_noop(self) -> None: ...

    def do_subscribe(self, name: bytes) -> None: ...

    def do_logout(self) -> None:
        self.say("* BYE LOGOUT Requested")

    def do_namespace(self) -> None:
        self.say('* NAMESPACE (("" "/")) NIL NIL')

    def do_create(self, name: bytes) -> None:
        self.account.labels.add(decode(name))

    def do_list(self, reference: bytes, pattern: bytes) -> None:
        names = [name for name in self.account.folders() if pattern in (b"*", encode(name))]
        if pattern == b"*":
            self.say('* LIST (\\HasChildren \\Noselect) "/" "[Gmail]"')
        for name in names:
            use = {ALL: " \\All", **{name: f" {use}" for name, (use, _) in SYSTEM.items()}}.get(name, "")
            self.say(f'* LIST (\\HasNoChildren{use}) "/" '.encode() + _quoted(encode(name)))

    def do_status(self, name: bytes, *items: bytes) -> None:
        count, following = self._state(decode(name))
        state = f" (MESSAGES {count} UIDNEXT {following} UIDVALIDITY {self.account.validity})"
        self.say(b"* STATUS " + _quoted(name) + state.encode())

    def _state(self, folder: str) -> tuple[int, int]:
        following = self.account.given.get(folder, 0) + 1
        return len(self.account.uids.get(folder, {})), following

    def do_select(self, name: bytes, *more: bytes) -> str:
        self.folder = decode(name)
        if self.folder not in self.account.folders():
            return "NO [NONEXISTENT] Unknown Mailbox"
        count, following = self._state(self.folder)
        self.say("* FLAGS (\\Answered \\Flagged \\Draft \\Deleted \\Seen)")
        self.say("* OK [PERMANENTFLAGS (\\Answered \\Flagged \\Draft \\Deleted \\Seen \\*)] Flags permitted.")
        self.say(f"* OK [UIDVALIDITY {self.account.validity}] UIDs valid.")
        self.say(f"* {count} EXISTS")
        self.say(f"* OK [UIDNEXT {following}] Predicted next UID.")
        return "OK [READ-WRITE] selected."

    def do_examine(self, name: bytes, *more: bytes) -> str:
        return self.do_select(name)

    def _held(self) -> dict[int, int]:
        """The letters of the selected folder by UID."""
        return {uid: number for number, uid in sorted(self.account.uids.get(self.folder, {}).items())}

    def do_uid_search(self, *words: bytes) -> None:
        found, left = self._held(), list(words)
        while left:
            word = left.pop(0).upper()
            if word == b"X-GM-LABELS":
                label = decode(left.pop(0))
                found = {u: n for u, n in found.items() if label in self.account.letters[n].labels}
            elif word == b"UID":
                chosen = _uids(left.pop(0), found)
                found = {u: n for u, n in found.items() if u in chosen}
            elif word != b"UNDELETED" and not re.fullmatch(rb"[\d:*,]+", word):
                raise AssertionError(f"the test server cannot search {word!r}")
        self.say("* SEARCH" + "".join(f" {uid}" for uid in sorted(found)))

    def do_uid_fetch(self, uids: bytes, *items: bytes) -> None:
        held = self._held()
        for position, uid in enumerate(held, 1):
            if uid in _uids(uids, held):
                self.say(b"* %d FETCH (UID %d%s)" % (position, uid, self._items(held[uid], items)))

    def _items(self, number: int, items: tuple[bytes, ...]) -> bytes:
        letter, told = self.account.letters[number], b""
        for item in items:
            if item == b"X-GM-LABELS":
                shown = sorted(letter.labels - {self.account.label_of(self.folder)})
                told += b" X-GM-LABELS (" + b" ".join(map(_label, shown)) + b")"
            elif item == b"FLAGS":
                told += b" FLAGS (" + b" ".join(sorted(letter.flags)) + b")"
            elif item.startswith(b"BODY.PEEK[]"):
                told += b" BODY[]<0> {%d}\r\n" % len(letter.raw) + letter.raw
            elif item not in (b"(", b")"):
                raise AssertionError(f"the test server cannot fetch {item!r}")
        return told

    def do_uid_store(self, uids: bytes, what: bytes, *values: bytes) -> None:
        held, labels = self._held(), {decode(value) for value in values if value not in (b"(", b")")}
        for uid in _uids(uids, held):
            if what == b"+X-GM-LABELS.SILENT":
                self.account.change(held[uid], add=labels)
            elif what == b"-X-GM-LABELS.SILENT":
                self.account.change(held[uid], remove=labels)
            elif what == b"+FLAGS.SILENT":
                self.account.letters[held[uid]].flags |= {*values} - {b"(", b")"}
            else:
                raise AssertionError(f"the test server cannot store {what!r}")

    def do_idle(self) -> None:
        self.say("+ idling")
        before = self._state(INBOX)
        while not select.select([self.connection], [], [], 0.02)[0]:
            if self._state(INBOX) != before:
                before = self._state(INBOX)
                self.say(f"* {before[0]} EXISTS")
        self.rfile.readline()  # DONE


def _words(line: bytes) -> list[bytes]:
    """Words of a command: quoted strings, parentheses and atoms."""
    found = []
    for word in TOKEN.finditer(line):
        if word[1] is not None:
            found.append(re.sub(rb"\\(.)", rb"\1", word[1]))
        elif word[0]:
            found.append(word[0])
    return found


def _uids(text: bytes, held: dict[int, int]) -> set[int]:
    last, found = max(held, default=0), set()
    for part in text.split(b","):
        first, _, end = part.partition(b":")
        low, high = (last if one == b"*" else int(one) for one in (first, end or first))
        found |= {uid for uid in held if min(low, high) <= uid <= max(low, high)}
    return found


def _quoted(name: bytes) -> bytes:
    return b'"' + name.replace(b"\\", b"\\\\").replace(b'"', b'\\"') + b'"'


def _label(label: str) -> bytes:
    """A label as Gmail writes it: quoted unless it is a plain word."""
    name = encode(label)
    return name if re.fullmatch(rb"\w+", name) else _quoted(name)
