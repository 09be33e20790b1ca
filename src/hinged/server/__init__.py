"""Any model over HTTP: many of them in one process, each with a journal, asked and taught beside each other."""

from hinged.server.app import create_app
from hinged.server.running import serve, serving
from hinged.server.settings import Settings

__all__ = ["Settings", "create_app", "serve", "serving"]
