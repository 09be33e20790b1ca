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
    folder : where the models lie
    token_file : who may do what; `tokens.json` in the folder where None
    open : whether anybody who reaches the port may do everything
    max_body : bytes of a request, and of a line of a stream
    rate : requests a second for each token; 0 for any number
    memory : bytes of models kept in memory
    group : most requests that share one wait for the disk; 1 for none
    fsync : whether `learn` waits for the disk
    snapshot_every : lines of a journal between two snapshots
    metrics : whether /metrics answers
    connections : most that are open at a time; fewer where the process may not have as many files open
    patience : seconds for the head of a request; a body or an answer may rest for six times that
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
