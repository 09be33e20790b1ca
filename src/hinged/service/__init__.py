"""Models over HTTP: many of them in one process, each with a journal."""

from hinged.service.app import create_app, serve, serving
from hinged.service.settings import Settings

__all__ = ["Settings", "create_app", "serve", "serving"]
