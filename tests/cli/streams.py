"""Small streams that the tests of the command line share."""

import json
import random

WORDS = {
    "finance": ["invoice", "tax", "payment", "bank", "budget", "quarterly"],
    "family": ["dinner", "grandma", "holiday", "cake", "birthday", "garden"],
    "travel": ["train", "hotel", "ticket", "flight", "passport", "luggage"],
    "work": ["meeting", "project", "deadline", "report", "review", "slides"],
}
COMMON = ["the", "a", "is", "on", "friday", "please", "we", "you", "it", "and", "today"]


def examples(n, seed=0):
    """So many (label, text) pairs: four folders that are fairly easy to tell apart."""
    rng = random.Random(seed)
    for _ in range(n):
        label = rng.choice(list(WORDS))
        yield label, " ".join(rng.choices(WORDS[label], k=2) + rng.choices(COMMON, k=4))


def write_jsonl(path, n, seed=0, label="label", text="text"):
    """A JSONL file of such examples."""
    path.write_text("".join(json.dumps({label: y, text: x}) + "\n" for y, x in examples(n, seed)), encoding="utf-8")
    return str(path)


def write_sets(path, n, seed=0):
    """A JSONL file whose examples have one or two labels."""
    rng = random.Random(seed)
    lines = []
    for (y, x), (other, more) in zip(examples(n, seed), examples(n, seed + 1), strict=True):
        both = rng.random() < 0.4
        lines.append(json.dumps({"topics": sorted({y, other}) if both else [y], "text": f"{x} {more}" if both else x}))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return str(path)


def write_svmlight(path, n, seed=0):
    """An svmlight file of two labels."""
    rng = random.Random(seed)
    lines = []
    for _ in range(n):
        label = rng.choice((1, 2))
        columns = sorted(rng.sample(range(1, 20), 4))
        lines.append(f"{label} " + " ".join(f"{c}:{rng.random() + (c % 2 == label - 1):.3f}" for c in columns))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return str(path)
