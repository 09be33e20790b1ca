"""A generated stream of mail, and where real data sets are found."""

from hinged.experiments.datasets import MailStream, folder, mail_stream, names, places

__all__ = ["MailStream", "folder", "mail_stream", "names", "places"]
