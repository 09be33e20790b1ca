"""Over HTTP: the mail page, and any model as a service."""

__all__: list[str] = []
