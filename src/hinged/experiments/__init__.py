"""Data sets, and learners compared on them."""

from hinged.experiments import datasets
from hinged.experiments.mail_stream import MailStream, mail_stream
from hinged.experiments.side_by_side import side_by_side

__all__ = ["MailStream", "datasets", "mail_stream", "side_by_side"]
