"""Several processes write to one folder, one of them is killed; the survivors and a fresh opening have one model.

Run as a program: folder, number of rounds, seed. In each round three forked children learn and edit at once; the
first round begins without a folder.
"""

import json
import os
import random
import signal
import sys
import time
from pathlib import Path

from tests.journal.models import digest, learner, learnt_by, texts

from hinged.journal import DurableModel

WRITERS, EXAMPLES = 3, 24


def write(folder, who, tell, hear):
    """Learn and edit, tell each key that is acknowledged; at the end wait for a word and tell what was learnt."""
    with DurableModel(folder, learner("texts"), snapshot_every=7) as kept:
        for i, (x, y) in enumerate(texts(EXAMPLES, seed=int(who.replace(".", "")))):
            kept.learn(x, y, key=f"{who}-{i}")
            os.write(tell, f"{who}-{i}\n".encode())
            if i % 6 == 5:
                edit(kept, who, i)
        os.write(tell, b"done\n")
        os.read(hear, 1)
        kept.refresh()
        os.write(tell, f"digest {digest(kept.model)}\n".encode())


def edit(kept, who, i):
    """An edit of labels; another writer may have made it impossible meanwhile."""
    try:
        labels = sorted(map(str, kept.labels()))
        if i % 12 == 5:
            kept.merge(labels[0], labels[1])
        elif i % 24 == 11:
            kept.rename(labels[0], f"{labels[0]}'")
        else:
            kept.learn("to be taken back", labels[0], key=f"{who}-back")
            kept.retract(f"{who}-back", labels[0])
    except ValueError:
        pass


class Writer:
    """A forked child, and what it has told so far."""

    def __init__(self, folder, who):
        hear, tell = os.pipe()
        wait, self._go = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            try:
                write(folder, who, tell, wait)
            finally:
                os._exit(0 if sys.exc_info()[0] is None else 1)
        os.close(tell), os.close(wait)
        self._hear, self._told = hear, b""

    def lines(self, until):
        """The lines told, up to one that begins with a word, or to the end."""
        while until not in self._told.decode() and (more := os.read(self._hear, 65536)):
            self._told += more
        return self._told.decode().split("\n")

    def kill(self):
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)

    def digest(self):
        os.write(self._go, b"x")
        (line,) = [line for line in self.lines("digest ") if line.startswith("digest ")]
        assert os.waitpid(self.pid, 0)[1] == 0
        return line.split()[1]

    def acknowledged(self):
        return {line for line in self._told.decode().split("\n")[:-1] if line != "done" and " " not in line}


if __name__ == "__main__":
    folder, rounds, rng = Path(sys.argv[1]) / "state", int(sys.argv[2]), random.Random(int(sys.argv[3]))
    learnt_by("texts", texts(20))  # loads the loops before the first fork
    acknowledged, lost, survivors = set(), [], 0
    for number in range(rounds):
        writers = [Writer(folder, f"{number}.{who}") for who in range(WRITERS)]
        time.sleep(rng.random() * 0.8)
        victim = writers.pop(rng.randrange(WRITERS))
        victim.kill()
        victim.lines("nothing, so to the end")
        for writer in writers:
            assert "done" in writer.lines("done\n"), "a survivor failed"
        with DurableModel(folder, read_only=True) as fresh:
            events = list(fresh.journal.examples())
            anew = learnt_by("texts", [(event.x, event.label) for event in events])
            digests = {digest(fresh.model), digest(anew), *(writer.digest() for writer in writers)}
            assert len(digests) == 1, f"{len(digests)} models in round {number}"
        survivors += len(writers)
        for writer in (victim, *writers):
            acknowledged |= writer.acknowledged()
        lost += sorted(acknowledged - {event.key for event in events})
    print(json.dumps({"acknowledged": len(acknowledged), "survivors": survivors, "lost": lost}))
