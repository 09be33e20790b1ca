"""Full disks and disks that cannot be written: an error, and nothing lost."""

import json

from tests.journal.disks import on_a_disk

FILLING = """
import json, sys
import hinged
from hinged.journal import DurableModel, JournalError
folder = {folder!r} + "/state"
if sys.argv[1] == "first":
    kept = DurableModel(folder, hinged.Classifier(), snapshot_every=50)
    acknowledged, message = 0, ""
    try:
        for i in range(100_000):
            kept.learn({{f"feature {{i}}, as long as can be {{j}}": 1.0 for j in range(60)}}, i % 5)
            acknowledged += 1
    except JournalError as problem:
        message = str(problem)
    rounds = kept.model.n_rounds_
    print(json.dumps([acknowledged, message]))
else:
    with DurableModel(folder, read_only=True) as kept:
        print(json.dumps(kept.model.n_rounds_))
"""


def test_a_full_disk_is_an_error_and_loses_nothing(tmp_path):
    ran = on_a_disk(tmp_path, FILLING.format(folder=str(tmp_path)), size="600k")
    assert ran.returncode == 0, ran.stderr
    first, second = map(json.loads, ran.stdout.splitlines())
    acknowledged, message = first
    assert acknowledged > 10
    assert "no room left" in message
    assert second == acknowledged


READ_ONLY = """
import json, sys
import hinged
from hinged.journal import DurableModel, JournalError
folder = {folder!r} + "/state"
if sys.argv[1] == "first":
    with DurableModel(folder, hinged.Classifier()) as kept:
        kept.learn({{"a": 1.0}}, "x")
else:
    try:
        DurableModel(folder)
    except JournalError as problem:
        print(problem)
    with DurableModel(folder, read_only=True) as kept:
        print(kept.model.n_rounds_)
"""


def test_a_disk_that_cannot_be_written_can_be_read(tmp_path):
    ran = on_a_disk(tmp_path, READ_ONLY.format(folder=str(tmp_path)), then='mount -o remount,ro "$1"')
    assert ran.returncode == 0, ran.stderr
    message, rounds = ran.stdout.splitlines()
    assert "cannot be written" in message
    assert rounds == "1"
