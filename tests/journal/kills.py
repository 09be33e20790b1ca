"""Learns in forked children that are killed at random; after each kill every acknowledged example must be there.

Run as a program: folder, number of kills, seed. Forking spares every child the start-up, so that kills come while
something is learnt, written, edited or opened again.
"""

import json
import os
import random
import sys
import time
from pathlib import Path

from tests.journal.models import learner, learnt_by, same, texts
from tests.killing import killed

from hinged.journal import DurableModel


def learn(folder, tell, begin):
    """Learn without end; write the number of each example once it is acknowledged."""
    examples = texts(400, seed=begin)
    with DurableModel(folder, snapshot_every=7) as kept:
        for i, (x, y) in enumerate(examples):
            kept.learn(x, y, key=f"{begin}-{i}")
            os.write(tell, f"{begin}-{i}\n".encode())
            if i % 25 == 24 and len(kept.labels()) > 3:
                first, second = kept.labels()[:2]
                (kept.merge if i % 50 == 24 else kept.rename)(first, second if i % 50 == 24 else f"{first}'")


if __name__ == "__main__":
    folder, kills, rng = Path(sys.argv[1]), int(sys.argv[2]), random.Random(int(sys.argv[3]))
    learnt_by("texts", texts(20))  # loads the loops before the first fork
    began = time.perf_counter()
    with DurableModel(folder, learner("texts")) as kept:
        for x, y in texts(20):
            kept.learn(x, y)
    took = max(0.25, 2 * (time.perf_counter() - began))
    acknowledged: set[str] = set()
    lost: list[str] = []
    counts: list[int] = []
    for kill in range(kills):
        acknowledged.update(killed(lambda tell, begin=kill: learn(folder, tell, begin), rng.random() * took))
        with DurableModel(folder) as kept:
            events = list(kept.journal.examples())
            lost += sorted(acknowledged - {event.key for event in events})
            counts.append(len(events))
            if events and kill % 5 == 4:
                assert same(kept.model, learnt_by("texts", [(event.x, event.label) for event in events])), kill
    print(json.dumps({"acknowledged": len(acknowledged), "counts": counts, "lost": lost}))
