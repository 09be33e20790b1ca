"""Learns and saves in forked children that are killed at random; says after each what the model file holds.

Run as a program: folder, number of kills, seed. Forking spares every child the start-up, so that most kills come
while something is learnt or written.
"""

import json
import os
import random
import signal
import sys
import time
from pathlib import Path

from hinged import load
from hinged.cli.main import main

RUNS = 2.5  # a child may live for up to so many runs


def learn(folder):
    """One run of the real command; nothing is printed."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    try:
        main(["learn", str(folder / "mail.jsonl"), "--model", str(folder / "m.hinged")])
    except SystemExit as stopped:
        if stopped.code:
            os._exit(int(stopped.code))


def killed(folder, longest, rng):
    """Fork a child that learns and saves again and again; kill it; return the rounds of the model it left."""
    child = os.fork()
    if child == 0:
        while True:
            learn(folder)
    time.sleep(rng.random() * longest)
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == -signal.SIGKILL, status
    return load(folder / "m.hinged").n_rounds_ if (folder / "m.hinged").exists() else 0


def warm_up(folder):
    """Load all loops before the first fork; return how many seconds a run takes."""
    saved = os.dup(1)
    learn(folder)
    began = time.perf_counter()
    learn(folder)
    os.dup2(saved, 1)
    (folder / "m.hinged").unlink()
    return time.perf_counter() - began


if __name__ == "__main__":
    folder, kills, rng = Path(sys.argv[1]), int(sys.argv[2]), random.Random(int(sys.argv[3]))
    longest = RUNS * warm_up(folder)
    rounds: list[int] = []
    while len(rounds) < kills or not rounds[-1]:
        if len(rounds) % kills == kills - 1 and not any(rounds):
            longest *= 2  # a machine that has become slower: some run must come to its end
        rounds.append(killed(folder, longest, rng))
    left = len([name for name in os.listdir(folder) if name.startswith(".m.hinged")])
    print(json.dumps({"rounds": rounds, "left": left}))
