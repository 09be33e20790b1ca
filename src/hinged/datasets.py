"""A generated stream of mail, and real data sets on this machine."""

from hinged.experiments.datasets import (
    MailStream,
    MultilabelSet,
    Stories,
    folder,
    mail_stream,
    multilabel,
    multilabel_names,
    names,
    ordinal_sets,
    places,
    reuters,
)

__all__ = [
    "MailStream",
    "MultilabelSet",
    "Stories",
    "folder",
    "mail_stream",
    "multilabel",
    "multilabel_names",
    "names",
    "ordinal_sets",
    "places",
    "reuters",
]
