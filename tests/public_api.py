"""The public API as text: `python -m tests.public_api > tests/public_api.txt` writes it anew after a change.

Signatures come without annotations. A class has a line for each public method and property that this package defines, a
command one with its arguments and options.
"""

import enum
import inspect
import re
import sys
from importlib import import_module

import typer

from hinged.cli.main import app

#: What docs/stability.md calls public. All other modules may change in any release.
MODULES = (
    "hinged",
    "hinged.bounds",
    "hinged.client",
    "hinged.costs",
    "hinged.datasets",
    "hinged.evaluate",
    "hinged.experiments",
    "hinged.features",
    "hinged.geometry",
    "hinged.io.examples",
    "hinged.journal",
    "hinged.mail",
    "hinged.mercer",
    "hinged.rules",
    "hinged.scale",
    "hinged.service",
    "hinged.sharing",
    "hinged.text",
)


def signature(thing):
    """Return the arguments of a function or class with their defaults, without annotations."""
    try:
        found = inspect.signature(getattr(thing, "py_func", thing))
    except (TypeError, ValueError):
        return ""
    plain = [one.replace(annotation=inspect.Parameter.empty) for one in found.parameters.values()]
    text = str(found.replace(parameters=plain, return_annotation=inspect.Signature.empty))
    return re.sub(r"<function .*? at 0x\w+>", "...", text)


def lines():
    """Yield the lines of the file."""
    for module in MODULES:
        for name in sorted(import_module(module).__all__):
            thing = getattr(import_module(module), name)
            if inspect.ismodule(thing):
                continue
            yield from described(f"{module}.{name}", thing)
    yield from commands("hinged", typer.main.get_command(app))


def commands(name, command):
    """Yield a line for a command, and one for each below it."""
    given = [
        one.metavar if one.param_type_name == "argument" else "/".join(one.opts + one.secondary_opts)
        for one in command.params
    ]
    if not command.hidden:
        yield " ".join(["$", name, *given])
        for below, one in sorted(getattr(command, "commands", {}).items()):
            yield from commands(f"{name} {below}", one)


def described(name, thing):
    """Yield a line for a function or value, and several for a class."""
    if inspect.isclass(thing):
        yield f"class {name}" + ("" if issubclass(thing, enum.Enum | BaseException) else signature(thing))
        own = [base for base in thing.__mro__ if base.__module__.startswith("hinged")]
        for member in sorted({member for base in own for member in vars(base) if not member.startswith("_")}):
            found = inspect.getattr_static(thing, member)
            if isinstance(found, staticmethod | classmethod):
                found = getattr(thing, member)
            yield f"  {member}" + (signature(found) if callable(found) and not inspect.isclass(found) else "")
    elif callable(thing):
        yield f"{name}{signature(thing)}"
    else:
        yield name


if __name__ == "__main__":
    sys.stdout.write("".join(f"{line}\n" for line in lines()))
