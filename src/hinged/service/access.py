"""Access control: bearer tokens, stored as hashes in a file of their own, and a limit on requests per second."""

from __future__ import annotations

import hashlib
import json
import logging
import os
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from starlette.requests import Request

from hinged.http.connections import KNOWN
from hinged.http.local import is_local
from hinged.io.atomic import write_private
from hinged.journal.folder import FolderLock
from hinged.service.responses import Refused, TokenFileError
from hinged.service.settings import Settings

__all__ = ["SCOPES", "Access", "Token", "Tokens", "create_token", "read_tokens", "revoke_token"]

log = logging.getLogger("hinged.service")

WAIT = 30.0  # seconds for another process that changes the same file
SCOPES = ("read", "write", "admin")  # each includes those before it
MOST_BUCKETS = 10_000


@dataclass(frozen=True)
class Token:
    """What a token allows.

    Attributes
    ----------
    id : name of the token
    model : the model it is for, or * for all
    scope : read, write, or admin, which also creates and deletes models
    sha256 : hash of the token; the token itself is not stored
    """

    id: str
    model: str
    scope: str
    sha256: str

    def allows(self, model: str, scope: str) -> bool:
        """Return True if the token grants this scope on this model.

        Examples
        --------
        >>> Token("1", "mail", "write", "").allows("mail", "read"), Token("1", "*", "read", "").allows("mail", "write")
        (True, False)
        """
        return self.model in ("*", model) and SCOPES.index(scope) <= SCOPES.index(self.scope)


class Tokens:
    """The tokens of a file, read again when the file changes.

    Examples
    --------
    >>> import tempfile
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
        self._reload()
        if self._problem is not None:
            raise self._problem

    def find(self, secret: str) -> Token | None:
        """Return the token, or None; while the file cannot be read, every request is refused."""
        changed = self._reload()
        if self._problem is not None:
            if changed:
                log.error("%s", self._problem)
            raise self._problem
        return self._by_hash.get(_hash(secret))

    def _reload(self) -> bool:
        """Read the file again if it has changed; return True if it has."""
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
    """Return the tokens of a file; none if there is no file."""
    try:
        tokens = [Token(**entry) for entry in json.loads(path.read_text(encoding="utf-8"))]
    except FileNotFoundError:
        return []
    except (OSError, TypeError, ValueError, RecursionError) as problem:
        raise TokenFileError(path, str(problem)) from None
    for token in tokens:
        if not all(type(value) is str for value in asdict(token).values()) or token.scope not in SCOPES:
            raise TokenFileError(path, "a token has four strings: id, model, scope, sha256")
    return tokens


def create_token(path: Path, model: str, scope: str) -> str:
    """Add a token to a file, which stores its hash; the token itself is returned here only."""
    if scope not in SCOPES:
        raise ValueError(f"the scope of a token must be one of {', '.join(SCOPES)}; got {scope!r}.")
    secret = secrets.token_urlsafe(24)
    with _changing(path) as tokens:
        tokens.append(Token(secrets.token_hex(4), model, scope, _hash(secret)))
    return secret


def revoke_token(path: Path, id: str) -> None:
    """Remove a token from a file."""
    with _changing(path) as tokens:
        if all(token.id != id for token in tokens):
            known = ", ".join(f"{token.id} ({token.model}:{token.scope})" for token in tokens) or "none"
            raise ValueError(f"there is no token {id!r} in {path}; there are {known}.")
        tokens[:] = [token for token in tokens if token.id != id]


@contextmanager
def _changing(path: Path) -> Iterator[list[Token]]:
    """Read a file of tokens, let the caller change the list, and write it back, all under a lock."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    with FolderLock(path.parent, WAIT, f".{path.name}.lock"):
        tokens = read_tokens(path)
        yield tokens
        write_private(path, [asdict(token) for token in tokens])


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


class Access:
    """Lets requests pass, or refuses them with 401, 403 or 429."""

    def __init__(self, settings: Settings) -> None:
        self._tokens = None if settings.open else Tokens(settings.tokens)
        self._rate = settings.rate
        self._buckets: dict[str, tuple[float, float]] = {}  # requests left, and when that was so

    def check(self, request: Request, model: str, scope: str) -> None:
        """Refuse a request without a sufficient token, or one too many; any token has the scope "known"."""
        who = self._check_token(request, model, scope)
        request.scope[KNOWN] = True
        if self._rate:
            self._check_rate(who)

    def may(self, request: Request, model: str, scope: str) -> bool:
        """Return True if the token of a request allows this."""
        if self._tokens is None:
            return True
        token = self._tokens.find(_bearer(request))
        return token is not None and token.allows(model, scope)

    def _check_token(self, request: Request, model: str, scope: str) -> str:
        if self._tokens is None:
            _check_local(request)
            return request.client.host if request.client else ""
        token = self._tokens.find(_bearer(request))
        if token is None:
            sentence = "a valid token is required; send it as 'Authorization: Bearer …'."
            raise Refused(401, sentence, {"WWW-Authenticate": "Bearer"})
        if scope != "known" and not token.allows(model, scope):
            raise Refused(403, f"this token allows {token.scope} on {token.model}; this needs {scope} on {model}.")
        return token.id

    def _check_rate(self, who: str) -> None:
        """Token bucket: it holds the requests of one second and refills at the allowed rate."""
        now, most = time.monotonic(), max(1.0, self._rate)
        left, then = self._buckets.get(who, (most, now))
        left = min(most, left + (now - then) * self._rate)
        if left < 1.0:
            wait = (1.0 - left) / self._rate
            sentence = f"too many requests; {self._rate:g} a second are allowed. Wait {wait:.2g} s."
            raise Refused(429, sentence, {"Retry-After": str(int(wait) + 1)})
        if len(self._buckets) >= MOST_BUCKETS:
            self._buckets.clear()
        self._buckets[who] = (left - 1.0, now)


def _bearer(request: Request) -> str:
    kind, _, secret = request.headers.get("authorization", "").partition(" ")
    return secret.strip() if kind.lower() == "bearer" else ""


def _check_local(request: Request) -> None:
    """Without tokens, a web page could send requests through its visitor's browser; Host and Origin reveal it."""
    named = request.headers.get("host", "")
    host = named if named.endswith("]") else named.rpartition(":")[0] or named
    if not is_local(host) or "origin" in request.headers:
        raise Refused(403, f"without tokens only local programs are served; this request came for host {named!r}.")
