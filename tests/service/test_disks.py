"""A full disk: the right status, a sentence, and nothing lost."""

import json

from tests.journal.disks import on_a_disk

FILLING = """
import json, secrets, sys
from pathlib import Path
from hinged.client import Client, ServiceError
from hinged.journal import DurableModel
from hinged.service import Settings, serving
folder = Path({folder!r}) / "state"
if sys.argv[1] == "first":
    with serving(Settings(folder)) as (url, token), Client(url, token, tries=1) as client:
        model = client.create("wide", "Classifier")
        acknowledged, refused = 0, None
        try:
            for i in range(100_000):
                model.learn({{secrets.token_hex(16): 1.0 for _ in range(300)}}, i % 5)
                acknowledged += 1
        except ServiceError as problem:
            refused = [problem.status, str(problem)]
        bulk = None
        try:
            model.learn_many([({{"taught": 9.0, **{{secrets.token_hex(16): 1.0 for _ in range(20_000)}}}}, "refused")])
        except ServiceError as problem:
            bulk = problem.status
        asked, status = {{"taught": 1.0}}, model.status()
        answers = [model.predict(asked), *(label for label, _ in model.rank(asked)), *status.labels]
        print(json.dumps([acknowledged, refused, bulk, answers, status.rounds]))
else:
    with DurableModel(folder / "models" / "wide", read_only=True) as kept:
        print(json.dumps(kept.model.n_rounds_))
"""


def test_a_full_disk_is_told_and_loses_nothing(tmp_path):
    ran = on_a_disk(tmp_path, FILLING.format(folder=str(tmp_path)), size="600k")
    assert ran.returncode == 0, ran.stderr
    first, rounds = map(json.loads, ran.stdout.splitlines())
    acknowledged, (status, sentence), bulk, answers, known = first
    assert acknowledged > 10
    assert (status, bulk) == (507, 507)
    assert "no room left" in sentence
    assert str(tmp_path) not in sentence
    assert rounds == known == acknowledged
    assert set(answers) == set(range(5)), "questions are answered, and what was refused was never learnt"
