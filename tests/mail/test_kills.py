"""Processes killed while they learn or file mail: nothing is lost, learnt or moved twice, or moved without a record."""

from tests.killing import KILLS, told_by


def test_learning_mail_survives_kills(tmp_path):
    assert told_by("tests.mail.kills", tmp_path)["lost"] == []


def test_filing_by_itself_survives_kills(tmp_path):
    check_filing(told_by("tests.mail.filing_kills", tmp_path, times=KILLS // 2))


def check_filing(told):
    """Nothing went wrong, and it was put to the test: mail was filed, and the user moved some of it."""
    assert {name: found for name, found in told.items() if isinstance(found, list) and found} == {}
    assert told["filed"] >= told["arrived"] // 4
    assert told["corrected"] == told["moved by the user"] > 0
