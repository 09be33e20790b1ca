"""Sieve scripts (RFC 5228): pins and sure senders as rules of the mail server, in a marked part of a script."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import groupby
from typing import NamedTuple

__all__ = ["SieveRule", "rules_of", "script_with"]

REQUIRE = 'require "fileinto"; # hinged'
BEGIN, END = "# hinged: begin", "# hinged: end"
NOTE = "# Written by hinged mail sieve, which replaces these lines each time. Move them as a whole if you like."
#: Kinds of rules in the order in which they apply, with the test of each.
TESTS = {
    "address": 'address :is "from"',
    "address of a list": 'header :contains "list-id"',
    "list": 'header :is "list-id"',
    "domain": 'address :is :domain "from"',
    "sender": 'address :is "from"',
}


class SieveRule(NamedTuple):
    """What a message must have, and the folder for it.

    Attributes
    ----------
    kind : a key of `TESTS`: the first four are pins
    who : an address, a domain, or a list
    folder : the folder, by the server's name
    """

    kind: str
    who: str
    folder: str

    @property
    def objection(self) -> str:
        """Say why this cannot be written into any script; "" if it can."""
        for text in (self.who, self.folder):
            if not text.isprintable():
                return f"{text!r} contains characters that cannot be printed"
            if "${" in text:  # would be replaced where the user's own script uses variables
                return f"{text!r} contains ${{, which is special in some scripts"
        return ""


def rules_of(pins: Mapping[str, str], senders: Iterable[tuple[str, str]]) -> list[SieveRule]:
    """Return rules for pins and senders, in the order in which they apply: as the assistant does, pins first.

    Parameters
    ----------
    pins : mapping of an address, a domain such as ``@example.com`` or a list to its folder
    senders : pairs of an address and its folder

    Examples
    --------
    >>> for rule in rules_of({"@example.com": "Work", "news.example.org": "News"}, [("bob@example.org", "Home")]):
    ...     print(*rule, sep=", ")
    list, news.example.org, News
    domain, example.com, Work
    sender, bob@example.org, Home
    """
    rules = []
    for who, folder in pins.items():
        if who.startswith("@"):
            rules.append(SieveRule("domain", who[1:], folder))
        elif "@" in who:
            rules += [SieveRule("address", who, folder), SieveRule("address of a list", f"<{who}>", folder)]
        else:
            rules.append(SieveRule("list", who, folder))
    rules += [SieveRule("sender", who, folder) for who, folder in senders]
    return sorted(rules, key=lambda rule: (list(TESTS).index(rule.kind), rule.folder, rule.who))


def script_with(rules: Iterable[SieveRule], script: str = "") -> str:
    r"""Return a script with these rules, in place of those it had; everything else in it stays as it is.

    New rules come at the end, after the user's own. The lines between the marks may be moved, and stay there.

    Parameters
    ----------
    rules : iterable of SieveRule
        Without an `objection`, in the order in which they apply.
    script : str, default ""
        The user's script.

    Examples
    --------
    >>> print(script_with([SieveRule("sender", 'a"b@example.org', "Home")]))
    require "fileinto"; # hinged
    # hinged: begin
    # Written by hinged mail sieve, which replaces these lines each time. Move them as a whole if you like.
    if address :is "from" [
      "a\"b@example.org"
    ] {
      fileinto "Home";
      stop;
    }
    # hinged: end
    <BLANKLINE>
    """
    newline = "\r\n" if "\r\n" in script else "\n"
    lines = script.split(newline)
    ours = [BEGIN, NOTE, *_lines_of(rules), END]
    begin, end = _marks(lines)
    if begin is None:
        blank = not lines[-1]  # the script ends with a newline
        lines = [*(lines[:-1] if blank else lines), *ours, ""]
    else:
        lines[begin : end + 1] = ours
    if REQUIRE not in lines:
        lines.insert(0, REQUIRE)
    return newline.join(lines)


def _marks(lines: list[str]) -> tuple[int | None, int]:
    """Return the numbers of the lines of the two marks, (None, 0) if there are none."""
    begins, ends = ([n for n, line in enumerate(lines) if line.strip() == mark] for mark in (BEGIN, END))
    if not begins and not ends:
        return None, 0
    if len(begins) != 1 or len(ends) != 1 or begins > ends:
        raise ValueError(
            f"the script must have the lines {BEGIN!r} and {END!r} once, in this order; it has {len(begins)} and "
            f"{len(ends)}. Remove them and what is between them."
        )
    return begins[0], ends[0]


def _lines_of(rules: Iterable[SieveRule]) -> Iterable[str]:
    for (kind, folder), group in groupby(rules, key=lambda rule: (rule.kind, rule.folder)):
        yield f"if {TESTS[kind]} ["
        names = [f"  {_quoted(rule.who)}" for rule in group]
        yield from (f"{name}," for name in names[:-1])
        yield names[-1]
        yield from ("] {", f"  fileinto {_quoted(folder)};", "  stop;", "}")


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
