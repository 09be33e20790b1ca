"""Looks at a Maildir in forked children that are killed at random; in the end every message was learnt once.

Run as a program: folder, number of kills, seed. Each child learns one message at a time and tells each that was
acknowledged; whenever all are learnt, the next child begins with an assistant that knows nothing. Every third child has
another one beside it that learns the same mail and is not killed: what they learn together is in the same order.
"""

import json
import os
import random
import shutil
import sys
import time
from contextlib import nullcontext
from pathlib import Path

from tests.journal.models import same
from tests.killing import beside, killed

from hinged.mail import Assistant, look, open_source, write_demo


def learn(mail, state, tell):
    with Assistant(state) as assistant:
        plain = assistant.learn

        def told(filed, skip):
            learnt = 0
            for one in filed:
                learnt += plain([one], skip)
                os.write(tell, f"{one.message.id}\n".encode())
            return learnt

        assistant.learn = told
        look(assistant, open_source(mail))


if __name__ == "__main__":
    folder, kills, rng = Path(sys.argv[1]), int(sys.argv[2]), random.Random(int(sys.argv[3]))
    mail, state = folder / "mail", folder / "state"
    messages = sum(n for name, n in write_demo(mail, 150, 4).items() if name != "INBOX")
    began = time.perf_counter()
    with Assistant(folder / "whole") as whole:
        look(whole, open_source(mail))
        took = max(0.3, 2 * (time.perf_counter() - began))
        acknowledged: set[str] = set()
        lost, rounds = [], 0
        for kill in range(kills):
            with beside(lambda tell: learn(mail, state, tell)) if kill % 3 == 2 else nullcontext():
                acknowledged.update(killed(lambda tell: learn(mail, state, tell), rng.random() * took))
            with Assistant(state) as assistant:
                keys = [event.key for event in assistant.kept.journal.examples()]
                assert len(keys) == len(set(keys)), "nothing is learnt twice"
                lost += sorted(acknowledged - set(keys))
                if len(keys) == messages:
                    assert same(assistant.model, whole.model)
            if len(keys) == messages:
                shutil.rmtree(state)
                acknowledged, rounds = set(), rounds + 1
        with Assistant(state) as assistant:
            look(assistant, open_source(mail))
            assert same(assistant.model, whole.model), "as if nothing had happened"
    print(json.dumps({"lost": lost, "rounds": rounds, "messages": messages}))
