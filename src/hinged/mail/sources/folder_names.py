"""Names of folders: decoded from files, told apart, checked when new, and what they say about a folder's use."""

from __future__ import annotations

import binascii
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, MutableMapping
from pathlib import Path

from hinged.mail.sources.source import SourceError

__all__ = ["PARTS", "distinct_names", "escaped", "from_utf7", "guess_uses", "levels_of", "to_utf7"]

SHIFTED = re.compile(r"&([A-Za-z0-9+,]*)-")
BEYOND = re.compile(r"[^\x20-\x7e]+")
LONGEST = 200  # bytes; file systems allow 255, and a name may be longer in modified UTF-7
#: Names in the languages that mail programs come in, in lower case.
NAMES: Mapping[str, tuple[str, ...]] = {
    "sent": (
        "sent", "sent items", "sent mail", "sent messages", "gesendet", "gesendete elemente", "gesendete objekte",
        "envoyés", "messages envoyés", "éléments envoyés", "enviados", "elementos enviados", "itens enviados",
        "inviata", "posta inviata", "verzonden", "verzonden items", "skickat", "sendt", "wysłane", "отправленные",
    ),
    "drafts": (
        "drafts", "draft", "entwürfe", "brouillons", "borradores", "rascunhos", "bozze", "concepten", "utkast",
        "kladder", "robocze", "kopie robocze", "черновики",
    ),
    "templates": (
        "templates", "vorlagen", "modèles", "plantillas", "modelos", "modelli", "sjablonen", "mallar", "skabeloner",
        "maler", "szablony", "шаблоны",
    ),
    "outbox": (
        "outbox", "unsent messages", "unsent", "postausgang", "nicht gesendete nachrichten", "boîte d'envoi",
        "messages non envoyés", "bandeja de salida", "caixa de saída", "posta in uscita", "postvak uit", "utkorgen",
        "udbakke", "utboks", "skrzynka nadawcza", "исходящие",
    ),
    "trash": (
        "trash", "deleted", "deleted items", "deleted messages", "bin", "papierkorb", "gelöscht", "gelöschte elemente",
        "corbeille", "éléments supprimés", "papelera", "elementos eliminados", "lixeira", "cestino", "prullenbak",
        "verwijderde items", "papperskorgen", "papirkurv", "kosz", "корзина",
    ),
    "junk": (
        "junk", "junk e-mail", "junk email", "junk mail", "spam", "bulk mail", "junk-e-mail", "unerwünscht",
        "courrier indésirable", "indésirables", "pourriel", "correo no deseado", "lixo eletrônico",
        "posta indesiderata", "ongewenste e-mail", "skräppost", "søppelpost", "спам",
    ),
}  # fmt: skip
USE = {name: use for use, names in NAMES.items() for name in names}
PARTS = frozenset(("cur", "new", "tmp"))  # folders of a Maildir
ABOVE = ("INBOX", "[Gmail]", "[Google Mail]")


def from_utf7(name: str) -> str:
    """Decode modified UTF-7 (RFC 3501, section 5.1.3), in which Maildir++ writes names; invalid parts stay as they are.

    Examples
    --------
    >>> from_utf7("B&APw-cher"), from_utf7("A &- B"), from_utf7("a & b")
    ('Bücher', 'A & B', 'a & b')
    """

    def plain(match: re.Match[str]) -> str:
        if not match[1]:
            return "&"
        code = match[1].replace(",", "/")
        try:
            return binascii.a2b_base64(code + "=" * (-len(code) % 4)).decode("utf-16-be")
        except (binascii.Error, ValueError):
            return match[0]

    return SHIFTED.sub(plain, name)


def to_utf7(name: str) -> str:
    """Encode a name in modified UTF-7.

    Examples
    --------
    >>> to_utf7("Bücher"), to_utf7("A & B")
    ('B&APw-cher', 'A &- B')
    """

    def shifted(match: re.Match[str]) -> str:
        code = binascii.b2a_base64(match[0].encode("utf-16-be"), newline=False).decode().rstrip("=")
        return f"&{code.replace('/', ',')}-"

    return BEYOND.sub(shifted, name.replace("&", "&-"))


def escaped(name: str) -> str:
    """Return a file name with the bytes that are not UTF-8 escaped; different names stay different.

    Examples
    --------
    >>> escaped("17.a.host"), escaped("caf\\udce9")
    ('17.a.host', 'caf\\\\xe9')
    """
    if name.isascii():
        return name
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def distinct_names(found: Iterable[tuple[str, Path]], root: Path) -> dict[str, Path]:
    """Return folders by name, sorted; if two have the same name, the second is named by its path.

    Examples
    --------
    >>> found = [("Bücher", Path("m/.B&APw-cher")), ("Bücher", Path("m/.B\\udcfccher"))]
    >>> list(distinct_names(found, Path("m")))
    ['.B\\\\xfccher', 'Bücher']
    """
    paths: dict[str, Path] = {}
    for name, path in found:
        paths[escaped(str(path.relative_to(root))) if name in paths else name] = path
    return dict(sorted(paths.items()))


def levels_of(name: str, existing: Iterable[str], separator: str = "") -> list[str]:
    """Return the levels of a new folder's name, which are separated by `/`; refuse an invalid name.

    Parameters
    ----------
    name : str
    existing : names of the existing folders
    separator : str
        Separator of the mailbox itself, if that is not `/`; no level may contain it.

    Examples
    --------
    >>> levels_of("Work/Taxes 2025", ["INBOX", "Work"])
    ['Work', 'Taxes 2025']
    >>> levels_of("work", ["INBOX", "Work"])
    Traceback (most recent call last):
    hinged.mail.sources.source.SourceError: the folder 'Work' exists already; file to it, or choose another name.
    """
    levels = name.split("/")
    same = next((one for one in existing if one.casefold() == name.casefold()), None)
    if same is not None:
        raise SourceError(f"the folder {same!r} exists already; file to it, or choose another name.")
    for wrong, why in _objections(name, levels, separator):
        if wrong:
            raise _refused(name, why)
    if len(name.encode()) > LONGEST:
        raise _refused(name[:40] + "…", f"it is longer than {LONGEST} bytes")
    return levels


def _objections(name: str, levels: list[str], separator: str) -> Iterator[tuple[bool, str]]:
    """Yield what may be wrong with a new folder's name, with True if it is."""
    uses = {name: "inbox" if name.casefold() == "inbox" else ""}
    guess_uses(uses)
    unnamed = any(level != level.strip() or not level for level in levels)
    mixed = separator not in ("", "/") and separator in name
    yield unnamed, "each level needs a name, without spaces around it"
    yield not name.isprintable(), "it contains characters that cannot be printed"
    yield any(level.startswith(".") for level in levels), "no level may begin with a dot"
    yield mixed, f"this mailbox separates levels by {separator!r}; use / instead"
    yield not PARTS.isdisjoint(levels), "cur, new and tmp are reserved for the messages of a Maildir"
    yield uses[name] != "", f"that name is reserved for the {uses[name]} folder"


def _refused(name: str, why: str) -> SourceError:
    return SourceError(f"a folder cannot be called {name!r}: {why}. No folder was created.")


def guess_uses(uses: MutableMapping[str, str], accounts: Collection[str] = ()) -> None:
    """Guess uses that no folder has yet from the names of top-level folders and of those right below the inbox.

    Parameters
    ----------
    uses : mapping of name to use
        "" for folders of unknown use; changed in place. Only uses whose folders must not be learnt are guessed: a
        folder called Archive may well be one of the user's own.
    accounts : names of folders that hold accounts
        Uses of the folders right below these are guessed as well.

    Examples
    --------
    >>> uses = {"INBOX": "inbox", "Gesendet": "", "Papierkorb": "", "Bin": "trash", "Work": "", "Work/Sent": ""}
    >>> guess_uses(uses)
    >>> uses
    {'INBOX': 'inbox', 'Gesendet': 'sent', 'Papierkorb': '', 'Bin': 'trash', 'Work': '', 'Work/Sent': ''}
    """
    taken = set(uses.values())
    for name, use in uses.items():
        above, _, last = name.rpartition("/")
        guess = USE.get(last.casefold(), "")
        if not use and guess and guess not in taken and above in ("", *ABOVE, *accounts):
            uses[name] = guess
