"""A generated stream of mail, and where real data sets are found."""

from hinged.experiments.datasets import MailStream, folder, mail_stream, names, places
from hinged.experiments.multilabel import MultilabelSet, Stories, multilabel, multilabel_names, reuters
from hinged.experiments.ranked_sets import ordinal_sets

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
