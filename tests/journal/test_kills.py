"""Processes killed while they learn: what was acknowledged is there, and the model is the journal's."""

from tests.killing import KILLS, told_by


def test_no_acknowledged_example_is_lost_by_a_kill(tmp_path):
    result = told_by("tests.journal.kills", tmp_path)
    assert result["lost"] == []
    assert len(result["counts"]) == KILLS
    assert result["counts"] == sorted(result["counts"])
    assert result["acknowledged"] > KILLS
