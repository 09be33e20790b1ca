"""A small table of support tickets, drawn with a seed: numbers, categories and text side by side."""

import csv
import io
import json
import random

WORDS = {
    "billing": ["invoice", "refund", "charged twice", "payment", "credit card", "receipt"],
    "network": ["no connection", "slow download", "router", "packet loss", "wifi", "cable"],
    "account": ["password", "cannot log in", "change my address", "close my account", "locked out", "e-mail"],
}
PLANS = {"billing": ["Business", "Home"], "network": ["Home", "Home Plus"], "account": ["Home", "Business"]}
HOURS = {"billing": 10, "network": 20, "account": 14}
COLUMNS = ("team", "subject", "plan", "minutes", "hour")


def tickets(n, seed=0):
    """Dicts of columns; None where a number is missing."""
    rng = random.Random(seed)
    for _ in range(n):
        team = rng.choice(list(WORDS))
        subject = f"{rng.choice(['Please help:', 'Question on', 'Again', 'Since today'])} {rng.choice(WORDS[team])}"
        about = [rng.choice(rng.choice(list(WORDS.values()))) for _ in range(rng.randrange(3))]
        minutes = None if rng.random() < 0.1 else rng.randrange(2, 60) + (30 if team == "network" else 0)
        hour = min(23, max(0, round(rng.gauss(HOURS[team], 3))))
        yield dict(
            zip(COLUMNS, (team, " ".join([subject, *about]), rng.choice(PLANS[team]), minutes, hour), strict=True)
        )


def as_csv(rows):
    out = io.StringIO()
    writer = csv.DictWriter(out, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


def as_jsonl(rows):
    return "".join(json.dumps(row) + "\n" for row in rows)
