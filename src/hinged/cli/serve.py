"""`hinged serve`: any model over HTTP."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from hinged.cli.options import AsJson
from hinged.cli.tables import emit

__all__ = ["serve"]

LOOPBACK = ("127.0.0.1", "localhost", "::1")
UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
SERVER, LIMITS, TOKENS = "Server", "Limits", "Tokens"


def serve(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="Where the models lie; made where it is not there.")
    ] = Path("hinged-models"),
    host: Annotated[
        str,
        typer.Option(metavar="ADDRESS", help="Where to listen; this machine alone by default.", rich_help_panel=SERVER),
    ] = "127.0.0.1",
    port: Annotated[
        int,
        typer.Option(min=0, max=65535, metavar="NUMBER", help="The port; 0 takes a free one.", rich_help_panel=SERVER),
    ] = 8377,
    metrics: Annotated[
        bool, typer.Option("--metrics", help="Answer /metrics, for Prometheus.", rich_help_panel=SERVER)
    ] = False,
    token_file: Annotated[
        Path | None,
        typer.Option(metavar="PATH", help="Who may do what; tokens.json in DIR by default.", rich_help_panel=TOKENS),
    ] = None,
    create_token: Annotated[
        str | None,
        typer.Option(
            metavar="MODEL:SCOPE",
            help="Print a new token and stop: mail:read, mail:write, *:admin. A running server knows it at once.",
            rich_help_panel=TOKENS,
        ),
    ] = None,
    list_tokens: Annotated[
        bool,
        typer.Option(
            "--list-tokens", help="Print id, model and scope of every token and stop.", rich_help_panel=TOKENS
        ),
    ] = False,
    revoke_token: Annotated[
        str | None,
        typer.Option(metavar="ID", help="Make a token worthless and stop.", rich_help_panel=TOKENS),
    ] = None,
    open_to_all: Annotated[
        bool,
        typer.Option(
            "--open", help="Need no tokens: every program of this machine may do everything.", rich_help_panel=TOKENS
        ),
    ] = False,
    memory: Annotated[
        str, typer.Option(metavar="SIZE", help="Memory for models; others wait on the disk.", rich_help_panel=LIMITS)
    ] = "1G",
    max_body: Annotated[
        str, typer.Option(metavar="SIZE", help="Largest request, and longest line of a stream.", rich_help_panel=LIMITS)
    ] = "1M",
    rate: Annotated[
        float,
        typer.Option(
            min=0, metavar="NUMBER", help="Requests a second for each token; 0 for any.", rich_help_panel=LIMITS
        ),
    ] = 0.0,
    group: Annotated[
        int,
        typer.Option(
            min=1,
            metavar="NUMBER",
            help="Most requests that share one wait for the disk; 1 for none.",
            rich_help_panel=LIMITS,
        ),
    ] = 512,
    connections: Annotated[
        int,
        typer.Option(
            min=1,
            metavar="NUMBER",
            help="Most connections at a time; the oldest idle ones are closed for new ones.",
            rich_help_panel=LIMITS,
        ),
    ] = 1000,
    as_json: AsJson = False,
) -> None:
    """Serve models over HTTP: create, learn, predict, rank, explain.

    What was answered is on the disk. Ctrl-C finishes what is under way, saves, and stops.

    Example: hinged serve models --port 8377
    """
    from hinged.cli.lean import import_lean

    import_lean()
    try:
        from hinged.server import Settings
        from hinged.server import serve as run
        from hinged.server.tokens import create_token as made
        from hinged.server.tokens import read_tokens
        from hinged.server.tokens import revoke_token as revoked
    except ImportError as problem:
        raise ImportError(f"hinged serve needs {problem.name}: pip install 'hinged[server]'.") from problem

    settings = Settings(
        folder,
        token_file,
        open_to_all,
        _bytes("--max-body", max_body),
        rate,
        _bytes("--memory", memory),
        group,
        metrics=metrics,
        connections=connections,
    )
    if create_token is not None:
        model, _, scope = create_token.rpartition(":")
        secret = made(settings.tokens, model or "*", scope)
        *_, new = _named(read_tokens(settings.tokens))
        emit(json.dumps({"token": secret, **new}) if as_json else secret)
        if not as_json:
            emit(f"id {new['id']} ({new['model']}:{new['scope']}); the token is shown once", err=True)
    elif list_tokens:
        known = _named(read_tokens(settings.tokens))
        emit(json.dumps(known) if as_json else "\n".join("{id}  {model}:{scope}".format(**one) for one in known))
    elif revoke_token is not None:
        revoked(settings.tokens, revoke_token)
    else:
        if open_to_all and host not in LOOPBACK:
            raise ValueError(f"--open is for this machine alone; got --host {host}. Leave one of them out.")
        if not open_to_all and not read_tokens(settings.tokens):
            emit(f"first token (*:admin), shown once: {made(settings.tokens, '*', 'admin')}", err=True)

        def tell(url: str) -> None:
            if as_json:
                emit(json.dumps({"address": url, "models": str(folder)}))
            else:
                emit(f"serving {folder} at {url}; stop with Ctrl-C", err=True)

        run(settings, host, port, tell)


def _named(tokens: list[Any]) -> list[dict[str, str]]:
    """What may be shown of tokens."""
    return [{"id": token.id, "model": token.model, "scope": token.scope} for token in tokens]


def _bytes(name: str, size: str) -> int:
    """The bytes of a size such as 512M."""
    number, unit = (size[:-1], size[-1:].upper()) if size[-1:].upper() in UNITS else (size, "")
    if not number.isdigit() or int(number) == 0:
        raise ValueError(f"{name} must be a size such as 512K, 64M or 2G; got {size!r}.")
    return int(number) * UNITS.get(unit, 1)
