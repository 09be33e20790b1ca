"""Who may do what: bearer tokens, kept as hashes in a file of their own."""

from __future__ import annotations

import hashlib
import json
import logging
import os
import secrets
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from hinged.journal.lock import FolderLock

__all__ = ["SCOPES", "Token", "TokenFileError", "Tokens", "create_token", "read_tokens", "revoke_token"]

log = logging.getLogger("hinged.server")

WAIT = 30.0  # seconds for another process that changes the same file
SCOPES = ("read", "write", "admin")  # each may do what those before it may


class TokenFileError(ValueError):
    """A file of tokens cannot be read; the sentence names it, and is for who runs the server."""

    def __init__(self, path: Path, why: str) -> None:
        super().__init__(f"{path} is no file of tokens ({why}); put back a copy, or remove it.")


@dataclass(frozen=True)
class Token:
    """What a token allows.

    Attributes
    ----------
    id : to name it by
    model : the model it is for, or * for all
    scope : read, write, or admin, which creates and deletes models
    sha256 : of the token itself, which is kept nowhere
    """

    id: str
    model: str
    scope: str
    sha256: str

    def allows(self, model: str, scope: str) -> bool:
        """Whether it allows that much of that model.

        Examples
        --------
        >>> Token("1", "mail", "write", "").allows("mail", "read"), Token("1", "*", "read", "").allows("mail", "write")
        (True, False)
        """
        return self.model in ("*", model) and SCOPES.index(scope) <= SCOPES.index(self.scope)


class Tokens:
    """The tokens of a file, read again when it has changed.

    Examples
    --------
    >>> path = Path(tempfile.mkdtemp()) / "tokens.json"
    >>> secret = create_token(path, "mail", "write")
    >>> tokens = Tokens(path)
    >>> tokens.find(secret).model, tokens.find("a guess")
    ('mail', None)
    >>> revoke_token(path, tokens.find(secret).id)
    >>> tokens.find(secret)
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._read: tuple[int, int] | None = None
        self._by_hash: dict[str, Token] = {}
        self._problem: TokenFileError | None = None
        self._keep_up()
        if self._problem is not None:
            raise self._problem

    def find(self, secret: str) -> Token | None:
        """The token, where there is such a one; nobody is let in while the file cannot be read."""
        changed = self._keep_up()
        if self._problem is not None:
            if changed:
                log.error("%s", self._problem)
            raise self._problem
        return self._by_hash.get(_hash(secret))

    def _keep_up(self) -> bool:
        """Read the file again if it is another one; return whether it was."""
        try:
            now = os.stat(self._path)
            state = (now.st_mtime_ns, now.st_ino)
        except FileNotFoundError:
            state = None
        if self._read == state:
            return False
        self._read, self._by_hash, self._problem = state, {}, None
        try:
            self._by_hash = {token.sha256: token for token in read_tokens(self._path)}
        except TokenFileError as problem:
            self._problem = problem
        return True


def read_tokens(path: Path) -> list[Token]:
    """The tokens of a file; none where there is no file."""
    try:
        tokens = [Token(**entry) for entry in json.loads(path.read_text(encoding="utf-8"))]
    except FileNotFoundError:
        return []
    except (OSError, TypeError, ValueError, RecursionError) as problem:
        raise TokenFileError(path, str(problem)) from None
    for token in tokens:
        if not all(type(value) is str for value in asdict(token).values()) or token.scope not in SCOPES:
            raise TokenFileError(path, "a token has four texts: id, model, scope, sha256")
    return tokens


def create_token(path: Path, model: str, scope: str) -> str:
    """Make a token and keep its hash; the token itself is given once."""
    if scope not in SCOPES:
        raise ValueError(f"the scope of a token must be one of {', '.join(SCOPES)}; got {scope!r}.")
    secret = secrets.token_urlsafe(24)
    with _changing(path):
        _write(path, [*read_tokens(path), Token(secrets.token_hex(4), model, scope, _hash(secret))])
    return secret


def revoke_token(path: Path, id: str) -> None:
    """Let a token be worth nothing from now on."""
    with _changing(path):
        tokens = read_tokens(path)
        if all(token.id != id for token in tokens):
            known = ", ".join(f"{token.id} ({token.model}:{token.scope})" for token in tokens) or "none"
            raise ValueError(f"there is no token {id!r} in {path}; there are {known}.")
        _write(path, [token for token in tokens if token.id != id])


@contextmanager
def _changing(path: Path) -> Iterator[None]:
    """Hold a file of tokens from reading to writing, so that what another process adds meanwhile is not lost."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    held = FolderLock(path.parent, WAIT, f".{path.name}.lock")
    try:
        yield
    finally:
        held.release()


def _write(path: Path, tokens: list[Token]) -> None:
    """Replace the file as a whole, for its owner alone."""
    file, beside = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}")  # mode 0600
    try:
        with open(file, "w", encoding="utf-8") as out:
            json.dump([asdict(token) for token in tokens], out, indent=1)
            out.flush()
            os.fsync(out.fileno())
        os.replace(beside, path)
    except BaseException:
        os.unlink(beside)
        raise


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()
