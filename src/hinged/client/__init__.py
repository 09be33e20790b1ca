"""A small typed client of `hinged serve`, on the standard library alone."""

from hinged.client.client import Bulk, Client, Learnt, RemoteModel, Status
from hinged.client.connection import ServiceError

__all__ = ["Bulk", "Client", "Learnt", "RemoteModel", "ServiceError", "Status"]
