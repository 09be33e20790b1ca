"""`hinged mail serve`: the page in the browser."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from hinged.cli.interrupts import Ending
from hinged.cli.mail.opening import assistant_of
from hinged.cli.mail.options import InFolder, State
from hinged.cli.options import AsJson

__all__ = ["serve"]


def serve(
    source: Annotated[
        str | None,
        typer.Argument(metavar="[SOURCE]", help="Where the mail lies: a Maildir, or imaps://user@host."),
    ] = None,
    *,
    demo: Annotated[bool, typer.Option("--demo", help="Show a made-up mailbox that is gone at the end.")] = False,
    folder: InFolder = None,
    host: Annotated[
        str, typer.Option(metavar="NAME", help="Where to listen; others than 127.0.0.1 are open to the network.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, metavar="N", help="0 takes a free port.")] = 0,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open the page at once.")] = True,
    state: State = None,
    as_json: AsJson = False,
) -> None:
    """File mail in the browser: three folders beside each message, one key each.

    Every filing is learnt at once, and u takes it back. The address that is printed holds a token; whoever has it can
    use the page. Stop with Ctrl-C.

    Example: hinged mail serve --demo
    """
    if demo == (source is not None):
        raise typer.BadParameter("name a source, or say --demo for a made-up one")
    with Ending() as ending:
        if not demo:
            _serve(str(source), folder, host, port, browser, state, as_json, ending)
            return
        import tempfile

        from hinged.mail.demo import write_demo

        with tempfile.TemporaryDirectory(prefix="hinged-demo-") as temporary:
            write_demo(Path(temporary) / "mail")
            kept = state or Path(temporary) / "state"
            _serve(f"{temporary}/mail", folder, host, port, browser, kept, as_json, ending)


def _serve(
    spec: str,
    folder: str | None,
    host: str,
    port: int,
    browser: bool,
    state: Path | None,
    as_json: bool,
    ending: Ending,
) -> None:
    from hinged.mail.sources.opening import open_source

    try:
        from hinged.server.page.serving import PageServer
    except ImportError as missing:
        raise ValueError(
            f"the page needs the package {missing.name}; install it with: pip install 'hinged[server]'."
        ) from None
    with assistant_of(spec, state) as assistant:
        server = PageServer(lambda: open_source(spec), assistant, folder=folder, host=host, port=port)
        typer.echo(json.dumps({"address": server.address}) if as_json else f"hinged: the page is at {server.address}")
        if browser:
            import webbrowser

            webbrowser.open(server.address_once())  # others can read the arguments of a browser
        ending.call(server.stop)
        server.run()
        ending.check()
