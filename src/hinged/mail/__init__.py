"""The mail assistant: ranked folders for every message, learnt from every correction."""

__all__: list[str] = []
