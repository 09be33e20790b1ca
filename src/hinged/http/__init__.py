"""What the service and the mail page share: connections and their limits, response headers, running a server."""

__all__: list[str] = []
