"""One part of `benchmarks.mail_scale` in this process, which prints its time and memory as JSON.

Each part needs a process of its own, because the peak memory of a process never decreases.
"""

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from benchmarks.many_letters import many_letters
from benchmarks.memory_child import high_water
from hinged.mail import Assistant, Filed, look, open_source, read_message

CORRECTIONS = 300


def learn(mail: Path, state: Path) -> dict[str, float]:
    """Learn a mailbox for the first time."""
    with Assistant(state) as assistant:
        return {"learnt": look(assistant, open_source(mail)).learnt, "features": assistant.model.n_known_features}


def start(mail: Path, state: Path) -> dict[str, float]:
    """Open the assistant, and suggest a folder for one message."""
    with Assistant(state) as assistant:
        source = open_source(mail)
        ((_, raw),) = source.read(source.places("INBOX")[:1])
        return {"candidates": len(assistant.suggest(read_message(raw)).candidates)}


def correct(mail: Path, state: Path) -> dict[str, float]:
    """Learn corrections one by one, each on the disk before the next."""
    fresh = [(folder, read_message(raw)) for folder, raw in many_letters(CORRECTIONS, 20, 77)]
    took = []
    with Assistant(state) as assistant:
        folders = assistant.folders()
        for i, (_, message) in enumerate(fresh):
            wall, processor = time.perf_counter(), time.process_time()
            assistant.learn([Filed(message, folders[i * 7 % len(folders)])])
            took.append((time.perf_counter() - wall, time.process_time() - processor))
    walls, processors = 1000 * np.array(took).T
    return {
        "wall": float(np.median(walls)),
        "processor": float(np.median(processors)),
        "wall_99": float(np.percentile(walls, 99)),
        "processor_99": float(np.percentile(processors, 99)),
    }


PARTS: dict[str, Callable[[Path, Path], dict[str, float]]] = {"learn": learn, "start": start, "correct": correct}


def main() -> None:
    """Do one part, print one JSON object."""
    parser = argparse.ArgumentParser()
    parser.add_argument("part", choices=PARTS)
    parser.add_argument("mail", type=Path)
    parser.add_argument("state", type=Path)
    options = parser.parse_args()
    figures = PARTS[options.part](options.mail, options.state)
    print(json.dumps(figures | {"peak": high_water(), "process": time.process_time()}))


if __name__ == "__main__":
    main()
