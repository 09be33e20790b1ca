"""The user's accounts in one TOML file. Imports little, for commands that ask a running assistant."""

from __future__ import annotations

import os
import re
import sys

TYPE_CHECKING = False  # importing typing takes longer than the rest of this file
if TYPE_CHECKING:
    from typing import Any

__all__ = [
    "CLIENT_KEYS", "KEYS", "ConfigError", "add", "clients", "config_path", "load", "remove", "settings_of", "source_of",
    "state_of",
]  # fmt: skip

#: The keys of an account: their types, and what they mean.
KEYS: dict[str, tuple[type, str]] = {
    "source": (str, "the mail: imaps://user@host/, or the absolute path of a Maildir or of mbox files; required"),
    "state": (str, "absolute path of the folder of what is learnt; derived from the source if left out"),
    "folder": (str, "the folder whose new messages get suggestions; the inbox if left out"),
    "keywords": (bool, "true sets the best folder as a keyword on each new message (IMAP)"),
    "page": (bool, "true serves the page of this account as well"),
    "min_score": (float, "minimum score of the best folder for a suggestion"),
    "min_gap": (float, "minimum score difference between best and second-best folder"),
    "min_confidence": (float, "minimum confidence"),
    "right": (str, 'files new messages by itself, but only what is right this often, such as "19/20"'),
    "review": (str, "with right, the folder for messages that are not sure enough; they stay if left out"),
}
#: The keys of a client of OAuth2. For google and microsoft, all but the first two are known.
CLIENT_KEYS: dict[str, tuple[type, str]] = {
    "client_id": (str, "the client id that you were given; required"),
    "client_secret": (str, "the client secret, if you were given one"),
    "server": (str, "the mail server that takes the tokens, as the address of the account has it"),
    "scope": (str, "what is asked for, separated by blanks"),
    "authorize": (str, "where the browser asks you; https"),
    "token": (str, "where tokens are given; https"),
    "device": (str, "where codes for another device are given; https. Without it there is no --device"),
    "redirect": (str, "the name of this machine in the address that the browser returns to; 127.0.0.1 if left out"),
}
#: The tables of the file: the keys of each entry, what one is called, and the key that none may lack.
TABLES = {"accounts": (KEYS, "an account", "source"), "oauth": (CLIENT_KEYS, "a client", "client_id")}
KINDS = {str: "text in quotes", bool: "true or false", float: "a number"}
NAME = re.compile(r"[A-Za-z0-9_-]+")
HEADER = re.compile(
    r"\s*\[\s*(?P<table>accounts|oauth)\s*\.\s*(?P<quote>[\"']?)(?P<name>[^\"'\]]+?)(?P=quote)\s*\]\s*(#.*)?$"
)
BEGINNING = "# The accounts of hinged mail: docs/mail_run.md explains every key; hinged mail config check reads it.\n"


class ConfigError(ValueError):
    """The file of accounts is wrong; the message is one sentence that names the line."""


def config_path() -> str:
    """Return the path of the user's file of accounts."""
    if sys.platform == "linux":  # what platformdirs says there, without the 15 ms of importing it
        home = os.environ.get("XDG_CONFIG_HOME", "")
        folder = os.path.join(home if home.strip() else os.path.expanduser("~/.config"), "hinged")
    else:
        from platformdirs import user_config_dir

        folder = user_config_dir("hinged", appauthor=False)
    return os.path.join(folder, "mail.toml")


def load(path: str = "") -> dict[str, dict[str, Any]]:
    """Read and check the file; return the settings of each account by its name, none if there is no file.

    Raises
    ------
    ConfigError
        At the first mistake.
    """
    return _load(path or config_path())["accounts"]


def clients(path: str = "") -> dict[str, dict[str, Any]]:
    """Read and check the file; return the settings of each client of OAuth2 by its name."""
    return _load(path or config_path())["oauth"]


def _load(path: str) -> dict[str, dict[str, dict[str, Any]]]:
    text = _read(path)
    tables: dict[str, dict[str, dict[str, Any]]] = {name: {} for name in TABLES}
    if text is None:
        return tables
    import tomllib

    try:
        found = tomllib.loads(text)
    except tomllib.TOMLDecodeError as problem:
        raise ConfigError(f"{path} is not TOML: {problem}.") from None
    for key, entries in found.items():
        if key not in TABLES:
            raise ConfigError(f"{_at(path, text, '', key)} there is no key {key!r} here; {_near(key, list(TABLES))}.")
        if not isinstance(entries, dict):
            raise ConfigError(f"{_at(path, text, '', key)} {key} are tables such as [{key}.home].")
        for name, settings in entries.items():
            _check(path, text, key, name, settings)
    return tables | found


def _read(path: str) -> str | None:
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except FileNotFoundError:
        return None
    except UnicodeDecodeError:
        raise ConfigError(f"{path} is not UTF-8; save it in that encoding.") from None


def _check(path: str, text: str, table: str, name: str, settings: object) -> None:
    """Check one entry of a table."""
    keys, what, required = TABLES[table]
    here = f"{table}.{name}"
    if not NAME.fullmatch(name):
        raise ConfigError(f"{_at(path, text, here)} {what} is named by letters, digits, - and _; got {name!r}.")
    if not isinstance(settings, dict):
        raise ConfigError(f"{_at(path, text, '', name)} write {name} as a table, [{here}].")
    for key, value in settings.items():
        where = _at(path, text, here, key)
        if key not in keys:
            raise ConfigError(f"{where} there is no key {key!r} for {what}; {_near(key, list(keys))}.")
        kind = keys[key][0]
        if not (type(value) is kind or (kind is float and type(value) is int)):
            raise ConfigError(f"{where} {key} must be {KINDS[kind]}; got {value!r}.")
        if key in ("source", "state") and not _is_whole(str(value), key):
            also = " or an address such as imaps://jane@imap.example.org/" if key == "source" else ""
            raise ConfigError(f"{where} {key} must be an absolute path{also}; got {value!r}.")
    if required not in settings:
        raise ConfigError(f"{_at(path, text, here)} {name} lacks the key {required!r}.")


def _is_whole(value: str, key: str) -> bool:
    """Return True if a value means the same wherever a program is started."""
    return os.path.isabs(os.path.expanduser(value)) or (key == "source" and "://" in value)


def _at(path: str, text: str, here: str, key: str = "") -> str:
    """Return where a key stands, for the beginning of a sentence; the table if the key is written in a rare way.

    `here` is the table, such as accounts.home; "" for keys outside of them.
    """
    inside = ""
    line_of_table = None
    wanted = re.compile(rf"\s*\[?\s*[\"']?{re.escape(key)}[\"']?\s*[=.\]]") if key else None
    for number, line in enumerate(text.splitlines(), 1):
        header = HEADER.match(line)
        if header is not None:
            inside = f"{header['table']}.{header['name']}"
            if inside == here:
                line_of_table = number
        if inside == here and wanted is not None and (header is None) and wanted.match(line):
            return f"{path}, line {number}:"
    return f"{path}:" if line_of_table is None else f"{path}, line {line_of_table}:"


def _near(key: str, known: list[str]) -> str:
    from difflib import get_close_matches

    near = get_close_matches(key, known, 1, cutoff=0.5)
    return f"the nearest is {near[0]!r}" if near else f"there are {', '.join(known)}"


# ------------------------------------------------------------------ one account
def settings_of(name: str) -> dict[str, Any]:
    """Return the settings of an account."""
    accounts = load()
    if name not in accounts:
        known = ", ".join(accounts) or f"none; hinged mail config add {name} SOURCE adds it"
        raise ConfigError(f"there is no account {name!r} in {config_path()}; there are {known}.")
    return accounts[name]


def source_of(settings: dict[str, Any]) -> str:
    """Return the source of an account."""
    source = str(settings["source"])
    return source if "://" in source else os.path.expanduser(source)


def state_of(settings: dict[str, Any]) -> str:
    """Return the state folder of an account."""
    from hinged.mail.sources.states import state_path

    return os.path.expanduser(settings["state"]) if "state" in settings else state_path(source_of(settings))


# ------------------------------------------------------------------ changes
def add(name: str, settings: dict[str, Any], table: str = "accounts") -> None:
    """Add an account, or a client, at the end of the file; what is there stays as it is."""
    path = config_path()
    if name in _load(path)[table]:
        raise ConfigError(f"there is {TABLES[table][1]} {name!r} already; remove it first, or choose another name.")
    text = _read(path) or BEGINNING
    text += "" if text.endswith("\n") else "\n"
    text += f"\n[{table}.{name}]\n" + "".join(f"{key} = {_toml(value)}\n" for key, value in settings.items())
    import tomllib

    _check(path, text, table, name, tomllib.loads(text)[table][name] if NAME.fullmatch(name) else {})
    _write(path, text)


def remove(name: str) -> None:
    """Remove an account; comments elsewhere stay."""
    settings_of(name)
    path = config_path()
    kept, inside = [], None
    for line in (_read(path) or "").splitlines(keepends=True):
        header = HEADER.match(line)
        if header is not None or line.lstrip().startswith("["):
            inside = None if header is None else f"{header['table']}.{header['name']}"
        if inside != f"accounts.{name}":
            kept.append(line)
    import tomllib

    if name in tomllib.loads("".join(kept)).get("accounts", {}):
        raise ConfigError(f"{path} holds {name} in another form than [accounts.{name}]; remove it with an editor.")
    _write(path, "".join(kept).rstrip("\n") + "\n")


def _toml(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        from json import dumps  # strings in JSON are strings in TOML, but for one character

        return dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return repr(value)


def _write(path: str, text: str) -> None:
    from pathlib import Path

    from hinged.io.atomic import open_atomically

    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    with open_atomically(Path(path), durable=True, mode=None if os.path.exists(path) else 0o600) as file:
        file.write(text.encode("utf-8"))
