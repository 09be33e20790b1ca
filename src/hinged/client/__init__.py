"""A small typed client of `hinged serve`, on the standard library alone."""

from hinged.client.client import Client, RemoteModel
from hinged.client.connection import ServiceError
from hinged.client.results import Bulk, Learnt, Status

__all__ = ["Bulk", "Client", "Learnt", "RemoteModel", "ServiceError", "Status"]
