"""A server under load, killed at random: what it acknowledged must be there, once, and the weights the journal's.

Run as a program: folder, number of kills, seed. Server and clients are forked, which spares them the start-up, so that
kills come while something is learnt, written or opened again.
"""

import json
import os
import random
import signal
import sys
import time
from pathlib import Path

from tests.journal.models import learner, learnt_by, same, texts

from hinged.client import Client, ServiceError
from hinged.journal import DurableModel, Example
from hinged.service import Settings, serve

CLIENTS = 4
TEXTS = [texts(500, seed=who) for who in range(CLIENTS)]


def forked(run):
    """Run something in a child that never returns; gives its number and what can be heard of it."""
    hear, tell = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(hear)
        try:
            run(lambda said: os.write(tell, f"{said}\n".encode()))
        finally:
            os._exit(0)
    os.close(tell)
    return child, os.fdopen(hear)


def teach(url, who, begin):
    """A client that teaches until the server is gone, beginning with what was not acknowledged the last time."""

    def run(tell):
        with Client(url, tries=1) as client:
            model = client.model("mail")
            try:
                for i in range(begin, 1 << 30):
                    x, y = TEXTS[who][i % len(TEXTS[who])]
                    model.learn(x, y, key=f"{who}-{i}")
                    tell(i)
            except ServiceError:
                pass

    return forked(run)


def one_kill(folder, rng, acknowledged):
    """Serve, teach, kill; count what was acknowledged."""
    settings = Settings(folder, open=True, snapshot_every=50)
    server, heard = forked(lambda tell: serve(settings, "127.0.0.1", 0, tell))
    url = heard.readline().strip()
    clients = [teach(url, who, acknowledged[who]) for who in range(CLIENTS)]
    time.sleep(0.05 + rng.random() * 0.5)
    os.kill(server, signal.SIGKILL)
    os.waitpid(server, 0)
    heard.close()
    for who, (child, said) in enumerate(clients):
        acknowledged[who] += len(said.read().split())
        said.close()
        os.waitpid(child, 0)


if __name__ == "__main__":
    folder, kills, rng = Path(sys.argv[1]), int(sys.argv[2]), random.Random(int(sys.argv[3]))
    with DurableModel(folder / "models" / "mail", learner("texts")) as kept:  # loads the loops before the first fork
        kept.learn_many([Example(x, y, f"warm-{i}") for i, (x, y) in enumerate(texts(20, seed=99))])
    learnt_by("texts", texts(20))
    acknowledged = [0] * CLIENTS
    lost, repeated, different = set(), set(), []
    for kill in range(kills):
        one_kill(folder, rng, acknowledged)
        with DurableModel(folder / "models" / "mail", read_only=True) as kept:
            events = list(kept.journal.examples())
            keys = [event.key for event in events]
            lost |= {f"{who}-{i}" for who, n in enumerate(acknowledged) for i in range(n)} - set(keys)
            repeated |= {key for key in keys if keys.count(key) > 1} if len(set(keys)) < len(keys) else set()
            if kill % 5 == 4 and not same(kept.model, learnt_by("texts", [(event.x, event.label) for event in events])):
                different.append(kill)
    told = {"acknowledged": sum(acknowledged), "lost": len(lost), "repeated": len(repeated), "different": different}
    print(json.dumps(told))
