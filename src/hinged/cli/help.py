"""What all commands share: help in plain text, and a quiet end when stdout is closed by its reader."""

from __future__ import annotations

from typing import Any

from typer.core import TyperCommand

from hinged.cli.terminal import silence_stdout

__all__ = ["Command"]


class Command(TyperCommand):
    """A command whose help lists its options under the headings they were declared with.

    Typer's own help would import Rich, which takes longer than everything else. Contexts are untyped: they are those of
    click, or of the copy of it that newer versions of Typer bring.
    """

    def invoke(self, ctx: Any) -> Any:
        """Run the command; it ends without an error when the reader of its output stops reading, as `head` does."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            silence_stdout()
            return 0
        except Exception as error:
            if getattr(error, "ctx", ctx) is None:  # a wrong option that the command itself found
                error.ctx = ctx  # type: ignore[attr-defined]
            raise

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the groups of options; those without a heading come first."""
        groups: dict[str, list[tuple[str, str]]] = {"Arguments": [], "Options": []}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is not None and parameter.param_type_name == "argument":
                groups["Arguments"].append((parameter.metavar or record[0], record[1]))
            elif record is not None:
                groups.setdefault(getattr(parameter, "rich_help_panel", None) or "Options", []).append(record)
        for heading, records in filter(all, groups.items()):
            with formatter.section(heading):
                formatter.write_dl(records)
