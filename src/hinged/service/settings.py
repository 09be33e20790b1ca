"""What a server was started with."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

__all__ = ["Settings"]


@dataclass(frozen=True)
class Settings:
    """How to serve the models of a folder.

    Attributes
    ----------
    folder : folder of the models
    token_file : file of access tokens; `tokens.json` in the folder if None
    open : True if no token is needed, so that every local program may do everything
    max_body : maximum bytes of a request, and of a line of a stream
    rate : maximum requests per second for each token; 0 for no limit
    memory : maximum bytes of models kept in memory
    group : maximum number of requests in one commit
    fsync : True if `learn` waits until the disk has the example
    snapshot_every : lines of a journal between two snapshots
    metrics : True to serve /metrics
    connections : maximum number of open connections; fewer if the limit on open files is low
    patience : seconds for the head of a request; a body or an answer may stall for six times that
    """

    folder: Path
    token_file: Path | None = None
    open: bool = False
    max_body: int = 1 << 20
    rate: float = 0.0
    memory: int = 1 << 30
    group: int = 512
    fsync: bool = True
    snapshot_every: int = 10_000
    metrics: bool = False
    connections: int = 1000
    patience: float = 10.0

    @property
    def tokens(self) -> Path:
        """The file of tokens."""
        return self.folder / "tokens.json" if self.token_file is None else self.token_file
