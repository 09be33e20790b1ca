"""`hinged serve`: any model over HTTP."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from hinged.cli.options import AsJson, argument, flag, option
from hinged.cli.tables import emit, emit_json
from hinged.http.local import is_local

if TYPE_CHECKING:
    from hinged.service import Settings
    from hinged.service.access import Token

__all__ = ["serve"]

UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


Folder = Annotated[Path, argument("DIR", "The folder of the models; created if missing.")]

SERVER = "Server"
HOST = "The address to listen on; only this machine by default."
Host = Annotated[str, option("ADDRESS", HOST, panel=SERVER)]
Port = Annotated[int, option("NUMBER", "The port; 0 takes a free one.", panel=SERVER, min=0, max=65535)]
Metrics = Annotated[bool, flag("--metrics", "Answer /metrics, for Prometheus.", SERVER)]

TOKENS = "Tokens"
TokenFile = Annotated[Path | None, option("PATH", "The file of tokens; tokens.json in DIR by default.", panel=TOKENS)]
CREATE = "Print a new token and stop: mail:read, mail:write, *:admin. A running server accepts it at once."
CreateToken = Annotated[str | None, option("MODEL:SCOPE", CREATE, panel=TOKENS)]
ListTokens = Annotated[bool, flag("--list-tokens", "Print id, model and scope of every token and stop.", TOKENS)]
RevokeToken = Annotated[str | None, option("ID", "Revoke a token and stop.", panel=TOKENS)]
OPEN = "Need no tokens: every program of this machine may do everything."
OpenToAll = Annotated[bool, flag("--open", OPEN, TOKENS)]

LIMITS = "Limits"
Memory = Annotated[str, option("SIZE", "Memory for models; others wait on the disk.", panel=LIMITS)]
MaxBody = Annotated[str, option("SIZE", "Largest request, and longest line of a stream.", panel=LIMITS)]
Rate = Annotated[float, option("NUMBER", "Requests a second for each token; 0 for no limit.", panel=LIMITS, min=0)]
GROUP = "Most requests that share one write to the disk; 1 for none."
Group = Annotated[int, option("NUMBER", GROUP, panel=LIMITS, min=1)]
CONNECTIONS = "Most connections at a time; the oldest idle ones are closed for new ones."
Connections = Annotated[int, option("NUMBER", CONNECTIONS, panel=LIMITS, min=1)]


def serve(
    folder: Folder = Path("hinged-models"),
    host: Host = "127.0.0.1",
    port: Port = 8377,
    metrics: Metrics = False,
    token_file: TokenFile = None,
    create_token: CreateToken = None,
    list_tokens: ListTokens = False,
    revoke_token: RevokeToken = None,
    open_to_all: OpenToAll = False,
    memory: Memory = "1G",
    max_body: MaxBody = "1M",
    rate: Rate = 0.0,
    group: Group = 512,
    connections: Connections = 1000,
    as_json: AsJson = False,
) -> None:
    """Serve models over HTTP: create, learn, predict, rank, explain.

    What was answered is on the disk. Ctrl-C finishes what is under way, saves, and stops.

    Example: hinged serve models --port 8377
    """
    try:
        from hinged.service import Settings, access
        from hinged.service import serve as run
    except ImportError as problem:
        raise ImportError(f"hinged serve needs {problem.name}: pip install 'hinged[server]'.") from problem

    sizes = _bytes("--max-body", max_body), rate, _bytes("--memory", memory), group
    settings = Settings(folder, token_file, open_to_all, *sizes, metrics=metrics, connections=connections)
    if create_token is not None:
        _create_token(settings.tokens, create_token, as_json)
    elif list_tokens:
        _list_tokens(settings.tokens, as_json)
    elif revoke_token is not None:
        access.revoke_token(settings.tokens, revoke_token)
    else:
        _prepare_access(settings, host)
        run(settings, host, port, partial(_announce, folder, as_json))


def _prepare_access(settings: Settings, host: str) -> None:
    """Refuse a server that is open to the network; create the first token of one that is not open."""
    from hinged.service.access import create_token, read_tokens

    if settings.open and not is_local(host):
        raise ValueError(f"--open is for this machine alone; got --host {host}. Leave one of them out.")
    if not settings.open and not read_tokens(settings.tokens):
        emit(f"first token (*:admin), shown once: {create_token(settings.tokens, '*', 'admin')}", err=True)


def _announce(folder: Path, as_json: bool, url: str) -> None:
    if as_json:
        emit_json({"address": url, "models": str(folder)}, one_line=True)
    else:
        emit(f"serving {folder} at {url}; stop with Ctrl-C", err=True)


def _list_tokens(file: Path, as_json: bool) -> None:
    from hinged.service.access import read_tokens

    known = _named(read_tokens(file))
    if as_json:
        emit_json(known, one_line=True)
    else:
        emit("\n".join("{id}  {model}:{scope}".format(**one) for one in known))


def _create_token(file: Path, asked: str, as_json: bool) -> None:
    """Print a new token; its id goes to stderr."""
    from hinged.service.access import create_token, read_tokens

    model, _, scope = asked.rpartition(":")
    secret = create_token(file, model or "*", scope)
    *_, new = _named(read_tokens(file))
    if as_json:
        emit_json({"token": secret, **new}, one_line=True)
    else:
        emit(secret)
        emit(f"id {new['id']} ({new['model']}:{new['scope']}); the token is shown once", err=True)


def _named(tokens: list[Token]) -> list[dict[str, str]]:
    """What may be shown of tokens."""
    return [{"id": token.id, "model": token.model, "scope": token.scope} for token in tokens]


def _bytes(name: str, size: str) -> int:
    """The bytes of a size such as 512M."""
    number, unit = (size[:-1], size[-1:].upper()) if size[-1:].upper() in UNITS else (size, "")
    if not number.isdigit() or int(number) == 0:
        raise ValueError(f"{name} must be a size such as 512K, 64M or 2G; got {size!r}.")
    return int(number) * UNITS.get(unit, 1)
