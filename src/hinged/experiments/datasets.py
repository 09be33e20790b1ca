"""Where data comes from: a generated stream of mail, and folders of real data sets."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from hinged.experiments.mail_stream import MailStream, mail_stream

__all__ = ["MailStream", "folder", "mail_stream", "names", "places"]

# Folder name: (title, where it is published).
PUBLISHED = {
    "binary": ("Spambase, a9a and a sample of RCV1", "archive.ics.uci.edu and the LIBSVM data page"),
    "conll2000": ("CoNLL-2000 chunking", "www.cnts.ua.ac.be/conll2000/chunking and the NLTK data collection"),
    "enron_folders": ("Enron e-mail foldering, seven users", "www.cs.cmu.edu/~enron"),
    "isolet": ("ISOLET, spoken letter names", "archive.ics.uci.edu"),
    "letter": ("Letter Recognition", "archive.ics.uci.edu"),
    "mnist": ("MNIST handwritten digits", "yann.lecun.com/exdb/mnist"),
    "multilabel_mulan": ("multi-label sets of the MULAN collection", "github.com/tsoumakas/mulan"),
    "ocr_letters": ("OCR letters in words", "ai.stanford.edu/~btaskar/ocr"),
    "ordinal": ("sets for ordinal regression", "archive.ics.uci.edu and the WEKA collection"),
    "regression": ("Bike Sharing and California Housing", "archive.ics.uci.edu and lib.stat.cmu.edu"),
    "reuters21578": ("Reuters-21578, distribution 1.0", "archive.ics.uci.edu"),
    "streams": ("Elec2 and NOAA weather", "github.com/scikit-multiflow/streaming-datasets"),
    "twenty_newsgroups": ("20 Newsgroups, by date", "qwone.com/~jason/20Newsgroups"),
    "ud_english_ewt": ("Universal Dependencies English EWT", "github.com/UniversalDependencies/UD_English-EWT"),
    "usps": ("USPS handwritten digits", "the data page of The Elements of Statistical Learning"),
    "yale_b": ("Extended Yale B faces, cropped", "vision.ucsd.edu"),
}


def names() -> list[str]:
    """Return the names that `folder` knows, sorted.

    Examples
    --------
    >>> "enron_folders" in names()
    True
    """
    return sorted(PUBLISHED)


def places() -> list[Path]:
    """Return where `folder` looks, in order: ``$HINGED_DATA`` where set, then the user's cache folder.

    Examples
    --------
    >>> places()[-1].name
    'hinged'
    """
    if sys.platform == "win32":
        cache = Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local"))
    elif sys.platform == "darwin":
        cache = Path.home() / "Library" / "Caches"
    else:
        cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    chosen = os.environ.get("HINGED_DATA")
    return [*([Path(chosen)] if chosen else []), cache / "hinged"]


def folder(name: str) -> Path:
    """Return the folder of a real data set on this machine.

    Parameters
    ----------
    name : str
        One of `names`.

    Returns
    -------
    Path

    Raises
    ------
    FileNotFoundError
        Where it is in none of the `places`; the message says what to get, from whom, and where to put it.

    Examples
    --------
    >>> folder("iris")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ValueError: there is no data set named 'iris'; choose one of binary, conll2000, ...
    """
    if name not in PUBLISHED:
        raise ValueError(f"there is no data set named {name!r}; choose one of {', '.join(names())}.")
    for place in places():
        if (place / name).is_dir():
            return place / name
    title, source = PUBLISHED[name]
    raise FileNotFoundError(
        f"the data set {name!r} ({title}) is not on this machine: it is published at {source}; put its files "
        f"into {places()[0] / name}, or point the environment variable HINGED_DATA at the folder that holds {name!r}."
    )
