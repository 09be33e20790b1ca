"""A generated stream of mail, and where real data sets are found."""

from hinged.experiments.datasets import MailStream, folder, mail_stream, names, places
from hinged.experiments.ranked_sets import ordinal_sets

__all__ = ["MailStream", "folder", "mail_stream", "names", "ordinal_sets", "places"]
