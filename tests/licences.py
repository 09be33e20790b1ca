"""Licences of what hinged requires, with all extras that users install: `make lint-security` runs this.

Prints a line for each package whose licence may not allow use in a BSD program, and exits with 1 if there is one.
"""

import re
import sys
from importlib.metadata import PackageNotFoundError, distribution

EXTRAS = ("all", "")
#: Words of licences that ask for no more than their own text; MPL and LGPL hold for their own files alone.
FINE = (
    "apache",
    "bsd",
    "isc",
    "lgpl",
    "lesser general",
    "mit",
    "mpl",
    "mozilla",
    "psf",
    "python software",
    "zlib",
    "0bsd",
)


def required(name, extras, found):
    """Fill `found` with the installed distributions that a package needs, by name."""
    try:
        one = distribution(name)
    except PackageNotFoundError:
        return  # an extra, or a package for another system
    known = name.lower().replace("_", "-") in found
    found[name.lower().replace("_", "-")] = one
    if known and not extras:
        return
    for line in one.requires or []:
        wanted, _, marker = line.partition(";")
        asked = re.search(r"extra == ['\"]([\w-]+)['\"]", marker)
        if asked is None or asked[1] in extras:
            words = re.match(r"\s*([\w.-]+)(?:\[([\w,-]*)\])?", wanted)
            required(words[1], tuple((words[2] or "").split(",")) if words[2] else (), found)


def licence(one):
    """Return what a distribution says of its licence."""
    told = one.metadata
    classifiers = [text for text in told.get_all("Classifier") or [] if text.startswith("License ::")]
    texts = [
        path.read_text(encoding="utf-8") for path in one.files or [] if re.search(r"COPYING|LICEN[CS]E", path.name)
    ]
    by_text = "BSD" if any("Redistribution and use in source and binary forms" in text for text in texts) else ""
    return (
        told.get("License-Expression") or "; ".join(classifiers) or (told.get("License") or "").strip()[:80] or by_text
    )


def main():
    found = {}
    required("hinged", EXTRAS, found)
    odd = {name: licence(one) for name, one in found.items() if not any(word in licence(one).lower() for word in FINE)}
    for name, told in sorted(odd.items()):
        print(f"{name}: {told or 'says nothing of its licence'}")
    print(f"{len(found)} packages, {len(odd)} with a licence to look at")
    sys.exit(1 if odd else 0)


if __name__ == "__main__":
    main()
